/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Takes buffers from the target and prints their records. Without `temporal` the CPUs take turns:
 * BEGIN's CPU first and, at the end, END's CPU last. With it all records are printed in order of
 * time: those newer than the oldest buffer taken wait for the next pass. Tested by
 * test/host/dtrace/command.
 */
#include "host/dtrace/consume/consume.h"
#include "host/kymo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Calls fn for each whole record. next: what follows in the buffer, or NULL. */
static void consume_walk_records(struct consumer *c, unsigned cpu, const uint8_t *data,
                                 uint64_t size,
                                 void (*fn)(struct consumer *, unsigned cpu, const uint8_t *record,
                                            const struct epid_info *, const struct epid_info *next))
{
    const struct epid_info *info = NULL, *next;
    const uint8_t *record = NULL;
    uint32_t epid;

    for (uint64_t at = 0; at + sizeof(epid) <= size;) {
        memcpy(&epid, data + at, sizeof(epid));
        if (epid == 0) {
            at += sizeof(epid);
            continue;
        }
        next = consumer_epid(c, epid);
        if (!next || next->desc.size < sizeof(struct dtrace_record) ||
            next->desc.size > size - at) {
            break;
        }
        if (record) {
            fn(c, cpu, record, info, next);
        }
        record = data + at;
        info = next;
        at += next->desc.size;
    }
    if (record) {
        fn(c, cpu, record, info, NULL);
    }
}

static void print_now(struct consumer *c, unsigned cpu, const uint8_t *record,
                      const struct epid_info *info, const struct epid_info *next)
{
    if (info->desc.clause == DTRACE_CLAUSE_FAULT) {
        message_fault(c, record, info);
    } else if (c->sink) {
        c->sink->record(c->sink->arg, c, cpu, record, info);
    } else if (c->json) {
        record_json(c, cpu, record, info);
    } else {
        record_print(c, cpu, record, info, next);
    }
}

/* ---- pending records: a binary heap, the oldest on top ------------------------------ */
static bool consume_is_older_record(const struct pending *a, const struct pending *b)
{
    return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static struct pending consume_pop_pending(struct consumer *c)
{
    struct pending top = c->pending[0], last = c->pending[--c->npending];
    size_t at = 0, child;

    for (; (child = 2 * at + 1) < c->npending; at = child) {
        child += child + 1 < c->npending &&
                 consume_is_older_record(&c->pending[child + 1], &c->pending[child]);
        if (!consume_is_older_record(&c->pending[child], &last)) {
            break;
        }
        c->pending[at] = c->pending[child];
    }
    c->pending[at] = last;
    return top;
}

/* Makes a copy of the record wait. */
static void consume_keep_record(struct consumer *c, unsigned cpu, const uint8_t *record,
                                const struct epid_info *info, const struct epid_info *next)
{
    uint8_t *copy = malloc(info->desc.size);
    struct dtrace_record head;

    (void)next;
    if (copy && c->npending == c->pending_room) {
        size_t room = c->pending_room ? c->pending_room * 2 : 256;
        struct pending *pending = realloc(c->pending, room * sizeof(*pending));
        if (pending) {
            c->pending = pending;
            c->pending_room = room;
        }
    }
    if (!copy || c->npending == c->pending_room) {
        kymo_no_memory();
    }
    memcpy(&head, record, sizeof(head));
    struct pending p = {
        .time = (uint64_t)head.time_high << 32 | head.time_low,
        .order = c->order++,
        .cpu = cpu,
        .data = memcpy(copy, record, info->desc.size),
        .size = info->desc.size,
    };
    size_t at = c->npending++;
    for (; at > 0 && consume_is_older_record(&p, &c->pending[(at - 1) / 2]); at = (at - 1) / 2) {
        c->pending[at] = c->pending[(at - 1) / 2];
    }
    c->pending[at] = p;
}

/* Returns what consume_keep_record() was given with the record. */
static const struct epid_info *consume_pending_info(struct consumer *c,
                                                    const struct pending *pending)
{
    uint32_t epid;

    memcpy(&epid, pending->data, sizeof(epid));
    return consumer_epid(c, epid);
}

/* ---- a pass ------------------------------------------------------------------------- */

/* BEGIN's CPU comes first; in the last pass END's CPU comes last. */
static int take_records(struct consumer *c, bool last)
{
    uint64_t oldest = UINT64_MAX; /* when the first of the buffers was taken */

    for (unsigned i = 0; i < c->ncpus; i++) {
        unsigned cpu = last     ? (i + 1 == c->ncpus ? c->end_cpu : i + (i >= c->end_cpu))
                       : i == 0 ? c->begin_cpu
                                : i - (i <= c->begin_cpu);
        struct dtrace_snap snap;
        int error = c->target->ops->buffer(c->target, cpu, c->buffer, c->bufsize, &snap);
        if (error) {
            return error;
        }
        message_drops(c, snap.drops, "drop|", "DTRACEDROP_PRINCIPAL", (int)cpu);
        consume_walk_records(c, cpu, c->buffer, snap.size,
                             c->temporal ? consume_keep_record : print_now);
        oldest = snap.taken && snap.taken < oldest ? snap.taken : oldest;
    }
    while (c->npending && (last || c->pending[0].time <= oldest)) {
        struct pending p = consume_pop_pending(c);
        bool same_cpu = c->npending && c->pending[0].cpu == p.cpu;
        print_now(c, p.cpu, p.data, consume_pending_info(c, &p),
                  same_cpu ? consume_pending_info(c, &c->pending[0]) : NULL);
        free(p.data);
    }
    return 0;
}

/* Prepares an entry's keys. An aggregation is printed at the end, when the processes of its keys
 * are gone, so the target is asked for their programs now, once each. And an address becomes the
 * function's or the object's, so that their entries are merged, as dtrace(1M) does. */
static void prepare_keys(struct consumer *c, const struct aggregation *a, uint8_t *entry)
{
    for (uint32_t i = 0; i + 1 < a->nrecs; i++) {
        uint16_t kind = a->recs[i].kind;
        bool module = kind == DTRACE_ACT_MOD || kind == DTRACE_ACT_UMOD;
        bool user = kind == DTRACE_ACT_USYM || kind == DTRACE_ACT_UMOD;
        bool of_process = user || kind == DTRACE_ACT_USTACK || kind == DTRACE_ACT_JSTACK ||
                          kind == DTRACE_ACT_UADDR;
        uint8_t *at = entry + a->recs[i].offset;
        uint64_t words[2], bias; /* the pid, if there is one, and the address */
        size_t bytes = user ? sizeof(words) : sizeof(*words);
        const char *object;

        if (c->target->ops->process && of_process && a->recs[i].size >= sizeof(*words)) {
            memcpy(words, at, sizeof(*words));
            c->target->ops->process(c->target, (int32_t)words[0], &object, &bias);
        }
        if ((module || user || kind == DTRACE_ACT_SYM) && a->recs[i].size >= bytes) {
            memcpy(words, at, bytes);
            address_owner owner = user ? (address_owner)words[0] : OF_KERNEL;
            words[user] = symbol_start(&c->printer, words[user], owner, module);
            memcpy(at, words, bytes);
        }
    }
}

static int take_aggregations(struct consumer *c, unsigned cpu)
{
    struct dtrace_agg_entry entry;
    struct dtrace_snap snap;
    int error = c->target->ops->aggregation(c->target, cpu, c->agg_buffer, c->aggsize, &snap);

    if (error) {
        return error;
    }
    message_drops(c, snap.drops, "aggregation drop|", "DTRACEDROP_AGGREGATION", (int)cpu);
    for (uint64_t at = 0; at + sizeof(entry) <= snap.size; at += entry.size) {
        memcpy(&entry, c->agg_buffer + at, sizeof(entry));
        struct aggregation *a = consumer_aggregation_of(c, entry.id);
        if (entry.size < sizeof(entry) || entry.size > snap.size - at) {
            break;
        }
        if (a && entry.size >= agg_entry_size(a)) {
            prepare_keys(c, a, c->agg_buffer + at);
            if (!agg_merge(a, c->agg_buffer + at, cpu)) {
                kymo_no_memory();
            }
        }
    }
    return 0;
}

bool consumer_is_over(const struct consumer *c)
{
    return c->last.exited || c->last.filled || c->last.state >= DTRACE_STATE_DRAINING;
}

/* True each time without the option, else once in its interval. Intervals are counted from when a
 * pass was due, not from when it happened. */
static bool is_due(struct consumer *c, const char *option, uint64_t *due)
{
    uint64_t interval = dtrace_option(c->session, option);

    if (interval == DT_OPTION_UNSET || interval == 0) {
        return true;
    }
    if (c->at < *due) {
        return false;
    }
    *due = *due && c->at < *due + interval ? *due + interval : c->at + interval;
    return true;
}

int consumer_pass(struct consumer *c, bool last)
{
    bool running_ring = !last && dtrace_option(c->session, "bufpolicy") != DTRACE_POLICY_SWITCH;
    struct dtrace_status status;
    int error = c->target->ops->status(c->target, &status);

    if (error) {
        return error;
    }
    message_status(c, &status);
    if (last || consumer_is_over(c)) {
        c->agg_due = c->switch_due = 0;
    }
    bool aggregations = is_due(c, "aggrate", &c->agg_due) && (last || !c->retains);
    bool records = is_due(c, "switchrate", &c->switch_due);
    for (unsigned cpu = 0; cpu < c->ncpus && aggregations && !error; cpu++) {
        error = take_aggregations(c, cpu);
    }
    if (!error && records && !running_ring) {
        error = take_records(c, last);
    }
    consumer_flush(c);
    if (status.exited && status.exit_dropped && !c->status_set) {
        c->status = status.exit_status & 0xff; /* as a process's status */
    }
    return error;
}

void consumer_finish(struct consumer *c)
{
    for (unsigned i = 0; i < c->naggs; i++) {
        struct aggregation *a = &c->aggs[i];
        if (c->sink) {
            c->sink->aggregation(c->sink->arg, c, a);
            continue;
        }
        if (a->printed || a->nrows == 0) {
            continue;
        }
        if (c->json) {
            json_aggregation(&c->printer, a);
        } else {
            print_aggregations(&c->printer, &a, 1, NULL);
        }
    }
    consumer_flush(c);
}
