/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The probes that a clause's descriptions match, and how stable what they name is.
 */
#include "host/d/part.h"
#include "host/d/suggest.h"

#include <string.h>

struct match {
    struct d_session *session;
    struct d_clause *clause;
    const struct d_node *probe;
};

static void least(uint8_t *value, uint8_t other)
{
    *value = other < *value ? other : *value;
}

/* The least stable of the fields that the description names; all of them if it names none. */
static void add_attributes(struct d_clause *c, const struct d_probe_info *info,
                           const struct d_node *n)
{
    const char *const given[4] = {n->provider, n->module, n->function, n->probe_name};
    struct d_attributes *all = &c->probe_attributes;

    for (unsigned i = 0; i < 4; i++) {
        if (given[i] && given[i][0]) {
            least(&all->name[0], info->attributes.name[i]);
            least(&all->data[0], info->attributes.data[i]);
            least(&all->class[0], info -> attributes.class[i]);
        }
    }
}

static bool is_new_kind(const struct d_clause *c, const struct d_probe_info *info)
{
    const struct d_probe_kind *k = c->kinds;

    while (k && (strcmp(k->probe.provider, info->provider) != 0 ||
                 strcmp(k->probe.name, info->name) != 0)) {
        k = k->next;
    }
    return !k;
}

static void add_kind(struct d_session *d, struct d_clause *c, const struct d_probe_info *info)
{
    struct d_probe_kind *k = d_alloc(d, sizeof(*k));

    k->probe = *info;
    k->probe.provider = d_strdup(d, info->provider);
    k->probe.module = d_strdup(d, info->module);
    k->probe.function = d_strdup(d, info->function);
    k->probe.name = d_strdup(d, info->name);
    k->next = c->kinds;
    c->kinds = k;
    c->probe = c->probe ? c->probe : &k->probe;
}

static bool matched(void *arg, const struct d_probe_info *info)
{
    struct match *m = arg;
    struct d_probe_info given = d_session_stability(m->session, info);

    if (is_new_kind(m->clause, info)) {
        add_kind(m->session, m->clause, info);
    }
    bool same = strcmp(m->clause->probe->function, info->function) == 0 &&
                strcmp(m->clause->probe->name, info->name) == 0;
    m->clause->many_kinds |= !same;
    add_attributes(m->clause, &given, m->probe);
    return true;
}

static const char *description_text(struct d_session *d, const struct d_node *n)
{
    if (n->probe_id) {
        return d_sprintf(d, "%u", n->probe_id);
    }
    return d_sprintf(d, "%s:%s:%s:%s", n->provider, n->module, n->function, n->probe_name);
}

static unsigned each_match(const struct d_probe_source *probes, const struct d_node *n,
                           struct match *m)
{
    return probes->each(probes->arg, n->provider, n->module, n->function, n->probe_name,
                        n->probe_id, matched, m);
}

void d_clause_probes(struct d_session *d, struct d_clause *c)
{
    const struct d_probe_source *probes = d_session_probes(d);

    for (struct d_node *n = c->probes; n; n = n->next) {
        struct match m = {d, c, n};
        unsigned found = each_match(probes, n, &m);
        if (found == 0 && d_probe_by_qnx_name(d, n)) {
            found = each_match(probes, n, &m);
        }
        c->program->matched += found;
        if (found == 0 && n->probe_id) {
            d_fail(d, n->place, "D_PDESC_INVAL", "probe identifier %u does not match any probes",
                   n->probe_id);
        }
        if (found == 0 && !d_option(d, "zdefs")) {
            d_fail(d, n->place, "D_PDESC_ZERO", "probe description %s does not match any probes%s",
                   description_text(d, n), d_suggest_probe(d, n));
        }
    }
}
