/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines that begin with #: line markers and D's pragmas. All others need the preprocessor.
 */
#include "host/dt/syntax/pragma.h"
#include "host/dt/types/elf.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void dt_pragma_malformed(const struct dt_pragma_line *at, const char *form)
{
    dt_fail(at->d, at->place, "D_PRAGMA_MALFORM", "malformed #pragma %s %s", at->name, form);
}

/* ---- options ----------------------------------------------------------------------- */

/* name or name=value; NULL: it was set. */
static const char *set_option(struct dt_session *d, const char *text)
{
    const char *equals = strchr(text, '=');
    const char *name = equals ? dt_strndup(d, text, (size_t)(equals - text)) : text;

    return dt_option_set(d, name, equals ? equals + 1 : NULL, DT_FROM_PRAGMA);
}

static void pragma_option(const struct dt_pragma_line *at, const struct dt_words *w)
{
    if (w->n != 1 || w->is_quoted[0]) {
        dt_pragma_malformed(at, "<option>[=<value>]");
    }
    const char *why = set_option(at->d, w->word[0]);
    if (why) {
        dt_fail(at->d, at->place, "D_PRAGMA_OPTSET", "failed to set option '%s': %s", w->word[0],
                why);
    }
}

static void scan_option(void *arg, const char *line, size_t n)
{
    struct dt_session *d = arg;
    struct dt_words w;

    if (dt_is_pragma(d, line, n, "option", &w) && w.n == 1 && !w.is_quoted[0]) {
        set_option(d, w.word[0]);
    }
}

void dt_pragma_options_scan(struct dt_session *d, const char *text, size_t n)
{
    dt_directives_each(text, n, scan_option, d);
}

/* ---- depends_on -------------------------------------------------------------------- */

static bool any_probe(void *arg, const struct dt_probe_info *info)
{
    (void)arg;
    (void)info;
    return false;
}

static bool has_probes(const struct dt_session *d, const char *provider, const char *module)
{
    return d->probes &&
           d->probes->each(d->probes->arg, provider, module, "", "", 0, any_probe, NULL) > 0;
}

bool dt_dependency_met(struct dt_session *d, const char *kind, const char *name)
{
    if (strcmp(kind, "provider") == 0) {
        return has_probes(d, name, "");
    }
    return strcmp(kind, "module") == 0 && (dt_elf_is_open(d, name) || has_probes(d, "", name));
}

static void pragma_depends_on(const struct dt_pragma_line *at, const struct dt_words *w)
{
    static const char *const kinds[] = {"provider", "module", "library", NULL};
    uint64_t kind;

    if (w->n != 2) {
        dt_pragma_malformed(at, "<class> <name>");
    }
    if (!dt_value_word(w->word[0], kinds, &kind)) {
        dt_fail(at->d, at->place, "D_PRAGMA_INVAL", "depends_on: unknown class \"%s\"", w->word[0]);
    }
    if (at->p->program && !dt_dependency_met(at->d, w->word[0], w->word[1])) {
        dt_fail(at->d, at->place, "D_PRAGMA_DEPEND", "program requires %s %s", w->word[0],
                w->word[1]);
    }
}

/* ---- lines ------------------------------------------------------------------------- */

/* # 12 "file", #line 12 "file": the next line's number. */
static void line_marker(const struct dt_pragma_line *at, const struct dt_words *w, unsigned first)
{
    char *end = NULL;
    unsigned long line = w->n > first ? strtoul(w->word[first], &end, 10) : 0;

    if (!end || *end || end == w->word[first] || (w->n > first + 1 && !w->is_quoted[first + 1])) {
        dt_fail(at->d, at->place, "D_PRAGMA_MALFORM",
                "malformed #line: expected a line number and a \"file\"");
    }
    at->p->place.line = (unsigned)line - 1;
    if (w->n > first + 1) {
        const char *file = w->word[first + 1];
        at->p->place.file = *file ? file : NULL;
    }
}

/* The text behind the first `skip` words. */
static const char *rest_of_line(struct dt_session *d, const char *text, size_t n, unsigned skip)
{
    const char *end = text + n;

    for (; skip > 0; skip--) {
        while (text < end && isspace((unsigned char)*text)) {
            text++;
        }
        while (text < end && !isspace((unsigned char)*text)) {
            text++;
        }
    }
    while (text < end && isspace((unsigned char)*text)) {
        text++;
    }
    return dt_strndup(d, text, (size_t)(end - text));
}

static void dt_pragma(struct dt_pragma_line *at, struct dt_words *w, const char *text, size_t n)
{
    static const struct {
        const char *name;
        void (*fn)(const struct dt_pragma_line *, const struct dt_words *);
    } pragmas[] = {
        {"option", pragma_option},
        {"attributes", dt_pragma_attributes},
        {"binding", dt_pragma_binding},
        {"depends_on", pragma_depends_on},
    };
    struct dt_words behind;

    if (w->n < 3) {
        at->name = "D";
        dt_pragma_malformed(at, "<name>");
    }
    at->name = w->word[2];
    if (strcmp(at->name, "error") == 0) {
        dt_fail(at->d, at->place, "D_PRAGERR", "%s", rest_of_line(at->d, text, n, 3));
    }
    if (strcmp(at->name, "line") == 0) {
        line_marker(at, w, 3);
        return;
    }
    const char *rest = rest_of_line(at->d, text, n, 3);
    dt_words_split(at->d, &behind, rest, strlen(rest));
    for (size_t i = 0; i < sizeof(pragmas) / sizeof(*pragmas); i++) {
        if (strcmp(at->name, pragmas[i].name) == 0) {
            pragmas[i].fn(at, &behind);
            return;
        }
    }
    if (strcmp(at->name, "ident") != 0) {
        dt_fail(at->d, at->place, "D_PRAGMA_INVAL", "invalid or unknown pragma: %s", at->name);
    }
}

void dt_directive(struct dt_parse *p, struct dt_place place, const char *line, size_t n)
{
    const char *hash = memchr(line, '#', n);
    struct dt_pragma_line at = {.p = p, .d = p->session, .place = place};
    struct dt_words w;

    n -= (size_t)(hash + 1 - line);
    dt_words_split(p->session, &w, hash + 1, n);
    if (w.n == 0) {
        return;
    }
    const char *first = w.word[0];
    if (isdigit((unsigned char)*first)) {
        line_marker(&at, &w, 0);
    } else if (strcmp(first, "line") == 0) {
        line_marker(&at, &w, 1);
    } else if (strcmp(first, "error") == 0) {
        dt_fail(p->session, place, "D_PRAGERR", "%s", rest_of_line(at.d, hash + 1, n, 1));
    } else if (strcmp(first, "pragma") == 0) {
        if (w.n > 1 && strcmp(w.word[1], "D") == 0) {
            dt_pragma(&at, &w, hash + 1, n);
        }
    } else if (strcmp(first, "ident") != 0) {
        dt_fail(p->session, place, "D_PRAGCTL_INVAL",
                "invalid control directive: #%s (-C runs the preprocessor)", first);
    }
}
