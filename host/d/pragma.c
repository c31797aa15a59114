/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines that begin with #: line markers and D's pragmas. All others need the preprocessor.
 */
#include "host/d/option_value.h"
#include "host/d/pragma.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct at { /* the line */
    struct d_parse *p;
    struct d_session *d;
    struct d_place place;
    const char *name; /* of the pragma */
};

static _Noreturn void malformed(const struct at *at, const char *form)
{
    d_fail(at->d, at->place, "D_PRAGMA_MALFORM", "#pragma D %s wants %s", at->name, form);
}

/* ---- options -----------------------------------------------------------------------------------
 */

/* name or name=value; NULL: it was set. */
static const char *set_option(struct d_session *d, const char *text)
{
    const char *equals = strchr(text, '=');
    const char *name = equals ? d_strndup(d, text, (size_t)(equals - text)) : text;

    return d_option_set(d, name, equals ? equals + 1 : NULL, D_FROM_PRAGMA);
}

static void pragma_option(const struct at *at, const struct d_words *w)
{
    if (w->n != 1 || w->is_quoted[0]) {
        malformed(at, "option or option=value");
    }
    const char *why = set_option(at->d, w->word[0]);
    if (why) {
        d_fail(at->d, at->place, "D_PRAGMA_OPTSET", "option %s can't be set: %s", w->word[0], why);
    }
}

static void scan_option(void *arg, const char *line, size_t n)
{
    struct d_session *d = arg;
    struct d_words w;

    if (d_is_pragma(d, line, n, "option", &w) && w.n == 1 && !w.is_quoted[0]) {
        set_option(d, w.word[0]);
    }
}

void d_pragma_options_scan(struct d_session *d, const char *text, size_t n)
{
    d_directives_each(text, n, scan_option, d);
}

/* ---- attributes, binding -----------------------------------------------------------------------
 */

static void apply(const struct d_pending_pragma *x, struct d_ident *i)
{
    if (x->is_binding) {
        i->version = x->version;
    } else {
        i->attributes = x->attributes;
    }
}

void d_pragma_apply(struct d_session *d, struct d_ident *i)
{
    for (struct d_pending_pragma *x = d->pending; x; x = x->next) {
        if (strcmp(x->name, i->name) == 0) {
            x->used = true;
            apply(x, i);
        }
    }
}

/* To a name that is known, or as soon as it will be. */
static void give(const struct at *at, struct d_pending_pragma x)
{
    struct d_ident *i = d_ident_lookup(at->d->globals, x.name);

    if (i && (i->flags & D_IDENT_BUILTIN)) {
        d_fail(at->d, at->place, "D_PRAGMA_SCOPE",
               "%s isn't the program's: #pragma D %s can't "
               "change it",
               x.name, at->name);
    }
    if (i) {
        apply(&x, i);
        return;
    }
    struct d_pending_pragma *kept = d_alloc(at->d, sizeof(*kept));
    *kept = x;
    kept->place = at->place;
    kept->next = at->d->pending;
    at->d->pending = kept;
}

/* x: as it is if there is no such provider, which then is a name that is never used. */
static void provider_attributes(const struct at *at, const struct d_words *w,
                                struct d_pending_pragma x)
{
    static const char *const parts[] = {"provider", "module", "function", "name", "args", NULL};
    uint64_t part;

    if (w->n != 4) {
        malformed(at, "attributes provider NAME PART");
    }
    if (!d_value_word(w->word[3], parts, &part)) {
        d_fail(at->d, at->place, "D_PRAGMA_INVAL", "a provider has no %s", w->word[3]);
    }
    x.name = w->word[2];
    if (!d_dependency_met(at->d, "provider", x.name)) {
        give(at, x);
        return;
    }
    struct d_provider_pragma *kept = d_alloc(at->d, sizeof(*kept));
    *kept = (struct d_provider_pragma){x.name, (unsigned)part, x.attributes, at->d->providers};
    at->d->providers = kept;
}

static void set_part(struct d_attributes *a, const struct d_provider_pragma *x)
{
    a->name[x->part] = x->attributes.name;
    a->data[x->part] = x->attributes.data;
    a->class[x->part] = x->attributes.class;
}

/* The last one that is said of a part counts. */
struct d_probe_info d_session_stability(const struct d_session *d, const struct d_probe_info *info)
{
    struct d_probe_info given = *info;
    unsigned done = 0;

    for (const struct d_provider_pragma *x = d->providers; x; x = x->next) {
        if (!(done >> x->part & 1) && strcmp(x->provider, info->provider) == 0) {
            done |= 1u << x->part;
            set_part(&given.attributes, x);
            set_part(&given.argument_attributes, x);
        }
    }
    return given;
}

static void pragma_attributes(const struct at *at, const struct d_words *w)
{
    struct d_pending_pragma x = {0};

    if (w->n < 2) {
        malformed(at, "attributes and a name");
    }
    if (!d_value_attributes(w->word[0], &x.attributes)) {
        d_fail(at->d, at->place, "D_PRAGMA_INVAL", "%s are no attributes", w->word[0]);
    }
    if (strcmp(w->word[1], "provider") == 0) {
        provider_attributes(at, w, x);
        return;
    }
    if (w->n != 2) {
        malformed(at, "attributes and one name");
    }
    x.name = w->word[1];
    give(at, x);
}

static void pragma_binding(const struct at *at, const struct d_words *w)
{
    struct d_pending_pragma x = {.is_binding = true};

    if (w->n != 2 || !w->is_quoted[0] || w->is_quoted[1]) {
        malformed(at, "\"version\" name");
    }
    if (!d_value_version(w->word[0], &x.version) || !d_version_is_known(x.version)) {
        d_fail(at->d, at->place, "D_PRAGMA_INVAL", "%s is no version", w->word[0]);
    }
    x.name = w->word[1];
    give(at, x);
}

void d_pragmas_check_used(struct d_parse *p)
{
    for (const struct d_pending_pragma *x = p->session->pending; x; x = x->next) {
        if (!x->used) {
            d_fail(p->session, x->place, "D_PRAGMA_UNUSED",
                   "#pragma D %s for %s, which the program never uses",
                   x->is_binding ? "binding" : "attributes", x->name);
        }
    }
}

/* ---- depends_on --------------------------------------------------------------------------------
 */

static void pragma_depends_on(const struct at *at, const struct d_words *w)
{
    static const char *const kinds[] = {"provider", "module", "library", NULL};
    uint64_t kind;

    if (w->n != 2) {
        malformed(at, "provider, module or library, and its name");
    }
    if (!d_value_word(w->word[0], kinds, &kind)) {
        d_fail(at->d, at->place, "D_PRAGMA_INVAL", "one can't depend on a %s", w->word[0]);
    }
    if (at->p->program && !d_dependency_met(at->d, w->word[0], w->word[1])) {
        d_fail(at->d, at->place, "D_PRAGMA_DEPEND", "there is no %s %s", w->word[0], w->word[1]);
    }
}

/* ---- lines -------------------------------------------------------------------------------------
 */

/* # 12 "file", #line 12 "file": the next line's number. */
static void line_marker(const struct at *at, const struct d_words *w, unsigned first)
{
    char *end = NULL;
    unsigned long line = w->n > first ? strtoul(w->word[first], &end, 10) : 0;

    if (!end || *end || end == w->word[first] || (w->n > first + 1 && !w->is_quoted[first + 1])) {
        d_fail(at->d, at->place, "D_PRAGMA_MALFORM", "#line wants a number and a \"file\"");
    }
    at->p->place.line = (unsigned)line - 1;
    if (w->n > first + 1) {
        const char *file = w->word[first + 1];
        at->p->place.file = *file ? file : NULL;
    }
}

/* The text behind the first `skip` words. */
static const char *rest_of_line(struct d_session *d, const char *text, size_t n, unsigned skip)
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
    return d_strndup(d, text, (size_t)(end - text));
}

static void d_pragma(struct at *at, struct d_words *w, const char *text, size_t n)
{
    static const struct {
        const char *name;
        void (*fn)(const struct at *, const struct d_words *);
    } pragmas[] = {
        {"option", pragma_option},
        {"attributes", pragma_attributes},
        {"binding", pragma_binding},
        {"depends_on", pragma_depends_on},
    };
    struct d_words behind;

    if (w->n < 3) {
        at->name = "";
        malformed(at, "a name");
    }
    at->name = w->word[2];
    if (strcmp(at->name, "error") == 0) {
        d_fail(at->d, at->place, "D_PRAGERR", "%s", rest_of_line(at->d, text, n, 3));
    }
    if (strcmp(at->name, "line") == 0) {
        line_marker(at, w, 3);
        return;
    }
    const char *rest = rest_of_line(at->d, text, n, 3);
    d_words_split(at->d, &behind, rest, strlen(rest));
    for (size_t i = 0; i < sizeof(pragmas) / sizeof(*pragmas); i++) {
        if (strcmp(at->name, pragmas[i].name) == 0) {
            pragmas[i].fn(at, &behind);
            return;
        }
    }
    if (strcmp(at->name, "ident") != 0) {
        d_fail(at->d, at->place, "D_PRAGMA_INVAL", "there is no #pragma D %s", at->name);
    }
}

void d_directive(struct d_parse *p, struct d_place place, const char *line, size_t n)
{
    const char *hash = memchr(line, '#', n);
    struct at at = {.p = p, .d = p->session, .place = place};
    struct d_words w;

    n -= (size_t)(hash + 1 - line);
    d_words_split(p->session, &w, hash + 1, n);
    if (w.n == 0) {
        return;
    }
    const char *first = w.word[0];
    if (isdigit((unsigned char)*first)) {
        line_marker(&at, &w, 0);
    } else if (strcmp(first, "line") == 0) {
        line_marker(&at, &w, 1);
    } else if (strcmp(first, "error") == 0) {
        d_fail(p->session, place, "D_PRAGERR", "%s", rest_of_line(at.d, hash + 1, n, 1));
    } else if (strcmp(first, "pragma") == 0) {
        if (w.n > 1 && strcmp(w.word[1], "D") == 0) {
            d_pragma(&at, &w, hash + 1, n);
        }
    } else if (strcmp(first, "ident") != 0) {
        d_fail(p->session, place, "D_PRAGCTL_INVAL", "# %s needs the preprocessor (-C)", first);
    }
}
