/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptions of ids: the target is asked once for each EPID and each aggregation, and values that
 * the program has no room for are rejected. Entries of aggregations find their @variable this way.
 * Proof: test/d_remote.
 */
#include "host/dtrace/consume.h"

#include <stdlib.h>
#include <string.h>

enum { RECS_MAX = 4096 };

/* Gets the target's description; false: not available, or of an unknown probe. */
static bool describe_epid(struct consumer *c, uint32_t epid, struct epid_info *info)
{
    uint32_t n = RECS_MAX;

    if (c->target->ops->epid(c->target, epid, &info->desc, info->recs, &n) != 0 || n > RECS_MAX) {
        return false;
    }
    info->desc.nrecs = n;
    return c->target->ops->probe_names(c->target, info->desc.probe, &info->probe);
}

static struct epid_info *ask_epid(struct consumer *c, uint32_t epid)
{
    struct epid_info *info = calloc(1, sizeof(*info));

    if (info) {
        info->recs = calloc(RECS_MAX, sizeof(*info->recs));
    }
    if (!info || !info->recs || !describe_epid(c, epid, info)) {
        free(info ? info->recs : NULL);
        free(info);
        return NULL;
    }
    return info;
}

const struct epid_info *consumer_epid(struct consumer *c, uint32_t epid)
{
    if (epid == 0 || epid > 1u << 20) {
        return NULL;
    }
    if (epid > c->nepids) {
        struct epid_info **epids = realloc(c->epids, epid * sizeof(*epids));
        if (!epids) {
            return NULL;
        }
        memset(epids + c->nepids, 0, (epid - c->nepids) * sizeof(*epids));
        c->epids = epids;
        c->nepids = epid;
    }
    if (!c->epids[epid - 1]) {
        c->epids[epid - 1] = ask_epid(c, epid);
    }
    return c->epids[epid - 1];
}

struct aggregation *consumer_aggregation(struct consumer *c, uint32_t number)
{
    return &c->aggs[number - 1];
}

/* The @variable that an aggregation id belongs to; the first one says what its rows look like. */
static struct aggregation *aggregation_of(struct consumer *c, uint32_t id)
{
    struct dtrace_agg_desc desc;

    if (id == 0 || id > 1u << 20) {
        return NULL;
    }
    if (id > c->nagg_ids) {
        uint32_t *variables = realloc(c->agg_variable, id * sizeof(*variables));
        if (!variables) {
            return NULL;
        }
        memset(variables + c->nagg_ids, 0, (id - c->nagg_ids) * sizeof(*variables));
        c->agg_variable = variables;
        c->nagg_ids = id;
    }
    if (!c->agg_variable[id - 1]) {
        struct dtrace_recdesc *recs = calloc(RECS_MAX, sizeof(*recs));
        uint32_t n = RECS_MAX;
        if (!recs || c->target->ops->agg(c->target, id, &desc, recs, &n) != 0 || n > RECS_MAX ||
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

static bool is_of_process(uint16_t kind)
{
    return kind == DTRACE_ACT_USTACK || kind == DTRACE_ACT_JSTACK || kind == DTRACE_ACT_USYM ||
           kind == DTRACE_ACT_UMOD || kind == DTRACE_ACT_UADDR;
}

/* An aggregation is printed at the end, when the processes of its keys are gone: the target knows
 * their programs now. Each is asked for once. */
static void ask_for_processes(struct consumer *c, const struct aggregation *a, const uint8_t *entry)
{
    const char *object;
    uint64_t bias, pid;

    for (uint32_t i = 0; c->target->ops->process && i + 1 < a->nrecs; i++) {
        if (is_of_process(a->recs[i].kind) && a->recs[i].size >= sizeof(pid)) {
            memcpy(&pid, entry + a->recs[i].offset, sizeof(pid));
            c->target->ops->process(c->target, (int32_t)pid, &object, &bias);
        }
    }
}

/* Merges entries of a function, or of an object, whatever the addresses in it: like dtrace(1M). */
static void name_keys(const struct consumer *c, const struct aggregation *a, uint8_t *entry)
{
    for (uint32_t i = 0; i + 1 < a->nrecs; i++) {
        uint16_t kind = a->recs[i].kind;
        bool module = kind == DTRACE_ACT_MOD || kind == DTRACE_ACT_UMOD;
        bool user = kind == DTRACE_ACT_USYM || kind == DTRACE_ACT_UMOD;
        uint8_t *at = entry + a->recs[i].offset;
        uint64_t words[2];
        size_t bytes = user ? sizeof(words) : sizeof(*words);

        if ((module || user || kind == DTRACE_ACT_SYM) && a->recs[i].size >= bytes) {
            memcpy(words, at, bytes);
            address_owner owner = user ? (address_owner)words[0] : OF_KERNEL;
            words[user] = symbol_start(&c->printer, words[user], owner, module);
            memcpy(at, words, bytes);
        }
    }
}

static void merge_entries(struct consumer *c, unsigned cpu, uint8_t *data, uint64_t size)
{
    struct dtrace_agg_entry entry;

    for (uint64_t at = 0; at + sizeof(entry) <= size; at += entry.size) {
        memcpy(&entry, data + at, sizeof(entry));
        struct aggregation *a = aggregation_of(c, entry.id);
        if (entry.size < sizeof(entry) || entry.size > size - at) {
            return;
        }
        if (a && entry.size >= agg_entry_size(a)) {
            ask_for_processes(c, a, data + at);
            name_keys(c, a, data + at);
            agg_merge(a, data + at, cpu);
        }
    }
}

int consumer_aggregate(struct consumer *c, unsigned cpu)
{
    struct dtrace_snap snap;
    int error = c->target->ops->aggregation(c->target, cpu, c->agg_buffer, c->aggsize, &snap);

    if (!error) {
        message_drops(c, snap.drops, "aggregation drop|", "DTRACEDROP_AGGREGATION", (int)cpu);
        merge_entries(c, cpu, c->agg_buffer, snap.size);
    }
    return error;
}
