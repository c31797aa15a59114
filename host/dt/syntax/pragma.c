/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines that begin with #: line markers and D's pragmas. All others need the preprocessor.
 * Attributes and bindings are applied to names, at once or as soon as a name is known, and to
 * providers. dt_directives_each() finds such lines in a text ahead of the parser.
 */
#include "host/dt/syntax/pragma.h"
#include "host/dt/types/elf.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The line of #pragma D that is being parsed. */
struct pragma_line {
    struct dt_parse *p;
    struct dt_session *d;
    struct dt_location location;
    const char *name; /* of the pragma */
};

static _Noreturn void pragma_malformed(const struct pragma_line *at, const char *form)
{
    dt_fail(at->d, at->location, "D_PRAGMA_MALFORM", "malformed #pragma %s %s", at->name, form);
}

/* ---- words of a line ---------------------------------------------------------------- */

static bool pragma_is_blank(char c)
{
    return c != '\n' && isspace((unsigned char)c);
}

static void words_split(struct dt_session *d, struct dt_words *w, const char *text, size_t n)
{
    const char *at = text, *end = text + n;

    *w = (struct dt_words){0};
    for (;;) {
        while (at < end && pragma_is_blank(*at)) {
            at++;
        }
        if (at == end) {
            return;
        }
        const char *start = at;
        bool quoted = *start == '"';
        if (quoted) {
            for (at++; at < end && *at != '"'; at++) {
                at += *at == '\\' && at + 1 < end;
            }
            at += at < end;
        }
        while (!quoted && at < end && !pragma_is_blank(*at) && *at != '"') {
            at++;
        }
        if (w->n < DT_WORDS_MAX) {
            bool closed = quoted && at - start >= 2 && at[-1] == '"';
            w->is_quoted[w->n] = quoted;
            w->word[w->n] = dt_strndup(d, start + quoted, (size_t)(at - start) - quoted - closed);
        }
        w->n++;
    }
}

bool dt_is_pragma(struct dt_session *d, const char *line, size_t n, const char *name,
                  struct dt_words *w)
{
    const char *hash = memchr(line, '#', n);

    if (!hash) {
        return false;
    }
    words_split(d, w, hash + 1, n - (size_t)(hash + 1 - line));
    if (w->n < 3 || strcmp(w->word[0], "pragma") != 0 || strcmp(w->word[1], "D") != 0 ||
        strcmp(w->word[2], name) != 0) {
        return false;
    }
    w->n -= 3;
    for (unsigned i = 0; i + 3 < DT_WORDS_MAX; i++) {
        w->word[i] = w->word[i + 3];
        w->is_quoted[i] = w->is_quoted[i + 3];
    }
    return true;
}

/* ---- lines in a text --------------------------------------------------------------- */

void dt_directives_each(const char *text, size_t n, void (*fn)(void *, const char *, size_t),
                        void *arg)
{
    const char *at = text, *end = text + n;
    bool at_start = true;

    while (at < end) {
        if (at_start && *at == '#') {
            const char *newline = memchr(at, '\n', (size_t)(end - at));
            const char *stop = newline ? newline : end;
            fn(arg, at, (size_t)(stop - at));
            at = stop;
        } else if (*at == '/' && at + 1 < end && at[1] == '*') {
            for (at += 2; at < end && !(*at == '*' && at + 1 < end && at[1] == '/'); at++) {
            }
            at = at < end ? at + 2 : end;
            at_start = false;
        } else if (*at == '"' || *at == '\'') {
            char quote = *at;

            for (at++; at < end && *at != quote && *at != '\n'; at++) {
                at += *at == '\\' && at + 1 < end && at[1] != '\n';
            }
            at = at < end && *at == quote ? at + 1 : at;
            at_start = false;
        } else {
            at_start = *at == '\n' || (at_start && pragma_is_blank(*at));
            at++;
        }
    }
}

/* ---- attributes and binding --------------------------------------------------------- */

/* Applies a pragma to a name: at once, or as soon as the name is defined. */
static void pragma_give_attribute(const struct pragma_line *at, struct dt_pending_pragma x)
{
    struct dt_ident *i = dt_ident_lookup(at->d->globals, x.name);

    if (i && (i->flags & DT_IDENT_BUILTIN)) {
        dt_fail(at->d, at->location, "D_PRAGMA_SCOPE",
                "#pragma %s cannot modify entity defined outside program scope: %s", at->name,
                x.name);
    }
    if (i) {
        dt_ident_give(i, &x);
        return;
    }
    struct dt_pending_pragma *kept = dt_alloc(at->d, sizeof(*kept));
    *kept = x;
    kept->location = at->location;
    kept->next = at->d->pending;
    at->d->pending = kept;
}

/* If there is no such provider, the pragma is kept for a name that is never defined. */
static void provider_attributes(const struct pragma_line *at, const struct dt_words *w,
                                struct dt_pending_pragma x)
{
    static const char *const parts[] = {"provider", "module", "function", "name", "args", NULL};
    uint64_t part;

    if (w->n != 4) {
        pragma_malformed(at, "<attributes> provider <name> <part>");
    }
    if (!dt_value_word(w->word[3], parts, &part)) {
        dt_fail(at->d, at->location, "D_PRAGMA_INVAL",
                "invalid part of a provider specified by #pragma %s: %s", at->name, w->word[3]);
    }
    x.name = w->word[2];
    if (!dt_dependency_met(at->d, "provider", x.name)) {
        pragma_give_attribute(at, x);
        return;
    }
    struct dt_provider_pragma *kept = dt_alloc(at->d, sizeof(*kept));
    *kept = (struct dt_provider_pragma){x.name, (unsigned)part, x.attributes, at->d->providers};
    at->d->providers = kept;
}

static void pragma_attributes(const struct pragma_line *at, const struct dt_words *w)
{
    struct dt_pending_pragma x = {0};

    if (w->n < 2) {
        pragma_malformed(at, "<attributes> <name>");
    }
    if (!dt_value_attributes(w->word[0], &x.attributes)) {
        dt_fail(at->d, at->location, "D_PRAGMA_INVAL",
                "invalid attributes specified by #pragma %s: %s", at->name, w->word[0]);
    }
    if (strcmp(w->word[1], "provider") == 0) {
        provider_attributes(at, w, x);
        return;
    }
    if (w->n != 2) {
        pragma_malformed(at, "<attributes> <name>");
    }
    x.name = w->word[1];
    pragma_give_attribute(at, x);
}

static void pragma_binding(const struct pragma_line *at, const struct dt_words *w)
{
    struct dt_pending_pragma x = {.is_binding = true};

    if (w->n != 2 || !w->is_quoted[0] || w->is_quoted[1]) {
        pragma_malformed(at, "\"<version>\" <name>");
    }
    if (!dt_value_version(w->word[0], &x.version) || !dt_version_is_known(x.version)) {
        dt_fail(at->d, at->location, "D_PRAGMA_INVAL",
                "invalid version string specified by #pragma %s: %s", at->name, w->word[0]);
    }
    x.name = w->word[1];
    pragma_give_attribute(at, x);
}

void dt_pragmas_check_used(struct dt_parse *p)
{
    for (const struct dt_pending_pragma *x = p->session->pending; x; x = x->next) {
        if (!x->used) {
            dt_fail(p->session, x->location, "D_PRAGMA_UNUSED", "unused #pragma %s: %s",
                    x->is_binding ? "binding" : "attributes", x->name);
        }
    }
}

/* ---- options ----------------------------------------------------------------------- */

/* Sets an option, as "name" or "name=value". NULL: done; else why not. */
static const char *set_option(struct dt_session *d, const char *text)
{
    const char *equals = strchr(text, '=');
    const char *name = equals ? dt_strndup(d, text, (size_t)(equals - text)) : text;

    return dt_option_set(d, name, equals ? equals + 1 : NULL, DT_FROM_PRAGMA);
}

static void pragma_option(const struct pragma_line *at, const struct dt_words *w)
{
    if (w->n != 1 || w->is_quoted[0]) {
        pragma_malformed(at, "<option>[=<value>]");
    }
    const char *why = set_option(at->d, w->word[0]);
    if (why) {
        dt_fail(at->d, at->location, "D_PRAGMA_OPTSET", "failed to set option '%s': %s", w->word[0],
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

static void pragma_depends_on(const struct pragma_line *at, const struct dt_words *w)
{
    static const char *const kinds[] = {"provider", "module", "library", NULL};
    uint64_t kind;

    if (w->n != 2) {
        pragma_malformed(at, "<class> <name>");
    }
    if (!dt_value_word(w->word[0], kinds, &kind)) {
        dt_fail(at->d, at->location, "D_PRAGMA_INVAL", "depends_on: unknown class \"%s\"",
                w->word[0]);
    }
    if (at->p->program && !dt_dependency_met(at->d, w->word[0], w->word[1])) {
        dt_fail(at->d, at->location, "D_PRAGMA_DEPEND", "program requires %s %s", w->word[0],
                w->word[1]);
    }
}

/* ---- lines ------------------------------------------------------------------------- */

/* # 12 "file", #line 12 "file": the next line's number. */
static void line_marker(const struct pragma_line *at, const struct dt_words *w, unsigned first)
{
    char *end = NULL;
    unsigned long line = w->n > first ? strtoul(w->word[first], &end, 10) : 0;

    if (!end || *end || end == w->word[first] || (w->n > first + 1 && !w->is_quoted[first + 1])) {
        dt_fail(at->d, at->location, "D_PRAGMA_MALFORM",
                "malformed #line: expected a line number and a \"file\"");
    }
    at->p->location.line = (unsigned)line - 1;
    if (w->n > first + 1) {
        const char *file = w->word[first + 1];
        at->p->location.file = *file ? file : NULL;
    }
}

/* Returns the text after the first `skip` words. */
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

static void pragma_run_line(struct pragma_line *at, struct dt_words *w, const char *text, size_t n)
{
    static const struct {
        const char *name;
        void (*fn)(const struct pragma_line *, const struct dt_words *);
    } pragmas[] = {
        {"option", pragma_option},
        {"attributes", pragma_attributes},
        {"binding", pragma_binding},
        {"depends_on", pragma_depends_on},
    };
    struct dt_words behind;

    if (w->n < 3) {
        at->name = "D";
        pragma_malformed(at, "<name>");
    }
    at->name = w->word[2];
    if (strcmp(at->name, "error") == 0) {
        dt_fail(at->d, at->location, "D_PRAGERR", "%s", rest_of_line(at->d, text, n, 3));
    }
    if (strcmp(at->name, "line") == 0) {
        line_marker(at, w, 3);
        return;
    }
    const char *rest = rest_of_line(at->d, text, n, 3);
    words_split(at->d, &behind, rest, strlen(rest));
    for (size_t i = 0; i < sizeof(pragmas) / sizeof(*pragmas); i++) {
        if (strcmp(at->name, pragmas[i].name) == 0) {
            pragmas[i].fn(at, &behind);
            return;
        }
    }
    if (strcmp(at->name, "ident") != 0) {
        dt_fail(at->d, at->location, "D_PRAGMA_INVAL", "invalid or unknown pragma: %s", at->name);
    }
}

void dt_directive(struct dt_parse *p, struct dt_location location, const char *line, size_t n)
{
    const char *hash = memchr(line, '#', n);
    struct pragma_line at = {.p = p, .d = p->session, .location = location};
    struct dt_words w;

    n -= (size_t)(hash + 1 - line);
    words_split(p->session, &w, hash + 1, n);
    if (w.n == 0) {
        return;
    }
    const char *first = w.word[0];
    if (isdigit((unsigned char)*first)) {
        line_marker(&at, &w, 0);
    } else if (strcmp(first, "line") == 0) {
        line_marker(&at, &w, 1);
    } else if (strcmp(first, "error") == 0) {
        dt_fail(p->session, location, "D_PRAGERR", "%s", rest_of_line(at.d, hash + 1, n, 1));
    } else if (strcmp(first, "pragma") == 0) {
        if (w.n > 1 && strcmp(w.word[1], "D") == 0) {
            pragma_run_line(&at, &w, hash + 1, n);
        }
    } else if (strcmp(first, "ident") != 0) {
        dt_fail(p->session, location, "D_PRAGCTL_INVAL",
                "invalid control directive: #%s (-C runs the preprocessor)", first);
    }
}
