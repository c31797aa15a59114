/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The probes that a clause's descriptions match, and how stable what they name is.
 */
#include "host/dt/check/derived.h"
#include "host/dt/check/suggest.h"
#include "host/dt/clause/clause.h"

#include <string.h>

static void set_part(struct dtrace_attributes *a, const struct dt_provider_pragma *x)
{
    a->name[x->part] = x->attributes.name;
    a->data[x->part] = x->attributes.data;
    a->dependency[x->part] = x->attributes.class;
}

/* The last attribute given for a part counts. */
struct dt_probe_info dt_session_stability(const struct dt_session *d,
                                          const struct dt_probe_info *info)
{
    struct dt_probe_info given = *info;
    unsigned done = 0;

    for (const struct dt_provider_pragma *x = d->providers; x; x = x->next) {
        if (!(done >> x->part & 1) && strcmp(x->provider, info->provider) == 0) {
            done |= 1u << x->part;
            set_part(&given.attributes, x);
            set_part(&given.argument_attributes, x);
        }
    }
    return given;
}

struct match {
    struct dt_session *session;
    struct dt_clause *clause;
    const struct dt_node *probe;
};

static void clause_probes_take_least(uint8_t *value, uint8_t other)
{
    *value = other < *value ? other : *value;
}

/* The least stable of the fields that the description names; all of them if it names none. */
static void add_attributes(struct dt_clause *c, const struct dt_probe_info *info,
                           const struct dt_node *n)
{
    const char *const given[4] = {n->provider, n->module, n->function, n->probe_name};
    struct dtrace_attributes *all = &c->probe_attributes;

    for (unsigned i = 0; i < 4; i++) {
        if (given[i] && given[i][0]) {
            clause_probes_take_least(&all->name[0], info->attributes.name[i]);
            clause_probes_take_least(&all->data[0], info->attributes.data[i]);
            clause_probes_take_least(&all->dependency[0], info->attributes.dependency[i]);
        }
    }
}

static bool clause_probes_take_match(void *arg, const struct dt_probe_info *info)
{
    struct match *m = arg;
    struct dt_session *d = m->session;
    struct dt_clause *c = m->clause;
    struct dt_probe_info given = dt_session_stability(d, info);
    struct dt_probe_kind *k = c->kinds;

    while (k && (strcmp(k->probe.provider, info->provider) != 0 ||
                 strcmp(k->probe.name, info->name) != 0)) {
        k = k->next;
    }
    if (!k) { /* the first of this kind */
        k = dt_alloc(d, sizeof(*k));
        k->probe = *info;
        k->probe.provider = dt_strdup(d, info->provider);
        k->probe.module = dt_strdup(d, info->module);
        k->probe.function = dt_strdup(d, info->function);
        k->probe.name = dt_strdup(d, info->name);
        k->next = c->kinds;
        c->kinds = k;
        c->probe = c->probe ? c->probe : &k->probe;
    }
    bool same =
        strcmp(c->probe->function, info->function) == 0 && strcmp(c->probe->name, info->name) == 0;
    c->many_kinds |= !same;
    add_attributes(c, &given, m->probe);
    return true;
}

/* The end of the message of a description without a probe. */
static const char *no_match(struct dt_session *d, const struct dt_node *n)
{
    const struct dt_probe_source *probes = d->probes;
    const char *const fields[4] = {n->provider, n->module, n->function, n->probe_name};
    const char *why = probes->why_none ? probes->why_none(probes->arg, d, fields) : NULL;

    if (d->base_is_older) {
        return ": the target's kernel is older than this command, and says of an event in another "
               "way which static probe it is; build it anew, or use the command that is built "
               "with it";
    }
    return why ? why : dt_suggest_probe(d, n);
}

static unsigned each_match(const struct dt_probe_source *probes, const struct dt_node *n,
                           struct match *m)
{
    return probes->each(probes->arg, n->provider, n->module, n->function, n->probe_name,
                        n->probe_id, clause_probes_take_match, m);
}

void dt_session_processes(struct dt_session *d,
                          unsigned (*find)(void *arg, const char *name, const int32_t **pids,
                                           const char **why),
                          void *arg)
{
    d->find_processes = find;
    d->find_processes_arg = arg;
}

void dt_clause_name_processes(struct dt_session *d, struct dt_node *n)
{
    for (; n; n = n->next) {
        const char *why = "";
        const int32_t *pids = NULL;

        if (n->probe_id || !d->find_processes || strcmp(n->provider, "pid") != 0 || !*n->module ||
            strpbrk(n->module, "*?[\\")) {
            continue;
        }
        unsigned count = d->find_processes(d->find_processes_arg, n->module, &pids, &why);
        if (count == 0) {
            dt_fail(d, n->location, "D_PDESC_ZERO",
                    "probe description %s:%s:%s:%s does not match any probes: %s", n->provider,
                    n->module, n->function, n->probe_name, why);
        }
        n->provider = dt_sprintf(d, "pid%d", (int)pids[0]);
        n->module = "a.out";
        for (unsigned i = 1; i < count; i++) {
            struct dt_node *more = dt_copy(d, n, NULL, NULL);

            more->provider = dt_sprintf(d, "pid%d", (int)pids[i]);
            more->next = n->next;
            n->next = more;
            n = more;
        }
    }
}

void dt_clause_probes(struct dt_session *d, struct dt_clause *c)
{
    const struct dt_probe_source *probes = d->probes;

    for (struct dt_node *n = c->probes; n; n = n->next) {
        struct match m = {d, c, n};
        const char *module = probes->module && n->provider
                                 ? probes->module(probes->arg, n->provider, n->module)
                                 : NULL;
        n->module = module ? dt_strdup(d, module) : n->module;
        unsigned found = each_match(probes, n, &m);
        if (found == 0 && dt_probe_by_qnx_name(d, n)) {
            found = each_match(probes, n, &m);
        }
        c->program->matched += found;
        if (found == 0 && n->probe_id) {
            dt_fail(d, n->location, "D_PDESC_INVAL",
                    "probe identifier %u does not match any probes", n->probe_id);
        }
        bool may_come =
            dtrace_option(d, "zdefs") ||
            (probes->may_have && probes->may_have(n->provider, n->function, n->probe_name));
        if (found == 0 && !may_come) {
            dt_fail(d, n->location, "D_PDESC_ZERO",
                    "probe description %s:%s:%s:%s does not match any probes%s", n->provider,
                    n->module, n->function, n->probe_name, no_match(d, n));
        }
    }
}

/* ---- derived probes ---------------------------------------------------------------- */

struct derived_search {
    struct dt_session *session;
    struct dt_array *list;
};

/* Two programs of a boot image may be one ELF: the tests are then the same, and the first stands
 * for both. */
static bool is_listed(const struct dt_array *list, const struct dt_derived *p)
{
    const struct dt_derived *const *listed = list->data;

    for (unsigned i = 0; i < list->n; i++) {
        const struct dt_derived *q = listed[i];
        bool same = strcmp(p->provider, q->provider) == 0 && strcmp(p->name, q->name) == 0 &&
                    strcmp(p->base_function, q->base_function) == 0 &&
                    strcmp(p->base_name, q->base_name) == 0 && p->predicate && q->predicate &&
                    strcmp(p->predicate, q->predicate) == 0;

        if (same) {
            return true;
        }
    }
    return false;
}

static bool take_derived(void *arg, const struct dt_probe_info *info)
{
    struct derived_search *s = arg;

    if (!is_listed(s->list, info->derived)) {
        const struct dt_derived **new = dt_list_add(s->session, s->list, sizeof(*new));
        *new = info->derived;
    }
    return true;
}

static bool one_is_enough(void *arg, const struct dt_probe_info *info)
{
    (void)arg;
    (void)info;
    return false;
}

static bool target_has(const struct dt_session *d, const struct dt_node *n)
{
    return d->probes->each(d->probes->arg, n->provider, n->module, n->function, n->probe_name,
                           n->probe_id, one_is_enough, NULL) > 0;
}

/* A program's provider is looked for if no probe of the target has the description, or if the
 * provider is a pattern: the target's providers hide those of programs. */
void dt_clause_derived(struct dt_session *d, struct dt_node *clause, struct dt_array *list)
{
    struct derived_search s = {d, list};
    struct dt_node **link = &clause->probes;

    while (*link) {
        struct dt_node *n = *link;
        bool has = n->probe_id || target_has(d, n);
        bool wanted = !n->probe_id && (!has || strpbrk(n->provider, "*?[\\"));
        unsigned found = wanted ? dt_derived_each(d, n->provider, n->module, n->function,
                                                  n->probe_name, take_derived, &s)
                                : 0;

        if (found > 0 && !has) {
            *link = n->next;
        } else {
            link = &n->next;
        }
    }
}
