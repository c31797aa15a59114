/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * #pragma D attributes and binding: applied to names, at once or as soon as a name is known, and to
 * providers.
 */
#include "host/dt/syntax/pragma.h"

#include <string.h>

/* To a name that is known, or as soon as it will be. */
static void give(const struct dt_pragma_line *at, struct dt_pending_pragma x)
{
    struct dt_ident *i = dt_ident_lookup(at->d->globals, x.name);

    if (i && (i->flags & DT_IDENT_BUILTIN)) {
        dt_fail(at->d, at->place, "D_PRAGMA_SCOPE",
                "#pragma %s cannot modify entity defined outside program scope: %s", at->name,
                x.name);
    }
    if (i) {
        dt_ident_give(i, &x);
        return;
    }
    struct dt_pending_pragma *kept = dt_alloc(at->d, sizeof(*kept));
    *kept = x;
    kept->place = at->place;
    kept->next = at->d->pending;
    at->d->pending = kept;
}

/* x: as it is if there is no such provider, which then is a name that is never used. */
static void provider_attributes(const struct dt_pragma_line *at, const struct dt_words *w,
                                struct dt_pending_pragma x)
{
    static const char *const parts[] = {"provider", "module", "function", "name", "args", NULL};
    uint64_t part;

    if (w->n != 4) {
        dt_pragma_malformed(at, "<attributes> provider <name> <part>");
    }
    if (!dt_value_word(w->word[3], parts, &part)) {
        dt_fail(at->d, at->place, "D_PRAGMA_INVAL",
                "invalid part of a provider specified by #pragma %s: %s", at->name, w->word[3]);
    }
    x.name = w->word[2];
    if (!dt_dependency_met(at->d, "provider", x.name)) {
        give(at, x);
        return;
    }
    struct dt_provider_pragma *kept = dt_alloc(at->d, sizeof(*kept));
    *kept = (struct dt_provider_pragma){x.name, (unsigned)part, x.attributes, at->d->providers};
    at->d->providers = kept;
}

void dt_pragma_attributes(const struct dt_pragma_line *at, const struct dt_words *w)
{
    struct dt_pending_pragma x = {0};

    if (w->n < 2) {
        dt_pragma_malformed(at, "<attributes> <name>");
    }
    if (!dt_value_attributes(w->word[0], &x.attributes)) {
        dt_fail(at->d, at->place, "D_PRAGMA_INVAL",
                "invalid attributes specified by #pragma %s: %s", at->name, w->word[0]);
    }
    if (strcmp(w->word[1], "provider") == 0) {
        provider_attributes(at, w, x);
        return;
    }
    if (w->n != 2) {
        dt_pragma_malformed(at, "<attributes> <name>");
    }
    x.name = w->word[1];
    give(at, x);
}

void dt_pragma_binding(const struct dt_pragma_line *at, const struct dt_words *w)
{
    struct dt_pending_pragma x = {.is_binding = true};

    if (w->n != 2 || !w->is_quoted[0] || w->is_quoted[1]) {
        dt_pragma_malformed(at, "\"<version>\" <name>");
    }
    if (!dt_value_version(w->word[0], &x.version) || !dt_version_is_known(x.version)) {
        dt_fail(at->d, at->place, "D_PRAGMA_INVAL",
                "invalid version string specified by #pragma %s: %s", at->name, w->word[0]);
    }
    x.name = w->word[1];
    give(at, x);
}

void dt_pragmas_check_used(struct dt_parse *p)
{
    for (const struct dt_pending_pragma *x = p->session->pending; x; x = x->next) {
        if (!x->used) {
            dt_fail(p->session, x->place, "D_PRAGMA_UNUSED", "unused #pragma %s: %s",
                    x->is_binding ? "binding" : "attributes", x->name);
        }
    }
}
