/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptions of ids: the target is asked once for each EPID and each aggregation id, and ids and
 * variables that the program can't have are rejected. Tested by test/host/remote.
 */
#include "host/dtrace/consume/consume.h"
#include "host/kymo.h"

#include <stdlib.h>
#include <string.h>

enum { RECS_MAX = 4096, ID_MAX = 1 << 20 };

const struct epid_info *consumer_epid(struct consumer *c, uint32_t epid)
{
    const struct target_ops *ops = c->target->ops;
    uint32_t n = RECS_MAX;

    if (epid == 0 || epid > ID_MAX) {
        return NULL;
    }
    if (epid > c->nepids) {
        struct epid_info **epids = kymo_memory(realloc(c->epids, epid * sizeof(*epids)));
        memset(epids + c->nepids, 0, (epid - c->nepids) * sizeof(*epids));
        c->epids = epids;
        c->nepids = epid;
    }
    if (c->epids[epid - 1]) {
        return c->epids[epid - 1];
    }
    struct epid_info *info = kymo_memory(calloc(1, sizeof(*info)));
    struct dtrace_recdesc *recs = kymo_memory(calloc(RECS_MAX, sizeof(*recs)));
    if (ops->epid(c->target, epid, &info->desc, recs, &n) != 0 || n > RECS_MAX ||
        !ops->probe_names(c->target, info->desc.probe, &info->probe)) {
        free(recs);
        free(info);
        return NULL;
    }
    const struct dt_clause_info *clause = dt_session_clause(c->session, info->desc.clause);
    if (clause && clause->derived) { /* the target knows its base only */
        info->probe.provider = clause->derived->provider;
        info->probe.module = clause->derived->module;
        info->probe.function = clause->derived->function;
        info->probe.name = clause->derived->name;
        info->probe.derived = clause->derived;
    }
    info->recs = recs;
    info->desc.nrecs = n;
    c->epids[epid - 1] = info;
    return info;
}

struct aggregation *consumer_aggregation(struct consumer *c, uint32_t number)
{
    return &c->aggs[number - 1];
}

struct aggregation *consumer_aggregation_of(struct consumer *c, uint32_t id)
{
    struct dtrace_agg_desc desc;

    if (id == 0 || id > ID_MAX) {
        return NULL;
    }
    if (id > c->nagg_ids) {
        uint32_t *variables = kymo_memory(realloc(c->agg_variable, id * sizeof(*variables)));
        memset(variables + c->nagg_ids, 0, (id - c->nagg_ids) * sizeof(*variables));
        c->agg_variable = variables;
        c->nagg_ids = id;
    }
    if (!c->agg_variable[id - 1]) {
        struct dtrace_recdesc *recs = kymo_memory(calloc(RECS_MAX, sizeof(*recs)));
        uint32_t n = RECS_MAX;
        if (c->target->ops->agg(c->target, id, &desc, recs, &n) != 0 || n > RECS_MAX ||
            desc.variable == 0 || desc.variable > c->naggs) {
            free(recs);
            return NULL;
        }
        struct aggregation *a = &c->aggs[desc.variable - 1];
        if (a->recs) {
            free(recs);
        } else {
            a->recs = recs;
            a->nrecs = n;
        }
        c->agg_variable[id - 1] = desc.variable;
    }
    return &c->aggs[c->agg_variable[id - 1] - 1];
}
