/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Taking buffers from the target and walking their records. Without `temporal` each CPU's come in
 * order, BEGIN's CPU first and, at the end, END's last; with it all in order of time: what is newer
 * than the oldest snapshot waits for the next pass.
 */
#include "host/dtrace/consume.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Calls fn for each whole record. */
static void walk(struct consumer *c, unsigned cpu, const uint8_t *data, uint64_t size,
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
    } else if (c->json) {
        record_json(c, cpu, record, info);
    } else {
        record_print(c, cpu, record, info, next);
    }
}

/* Pending records are a binary heap, the oldest on top: a pass costs what it brings and what it
 * prints, however many wait. */
static bool is_older(const struct pending *a, const struct pending *b)
{
    return a->time != b->time ? a->time < b->time : a->order < b->order;
}

/* There is room. */
static void push(struct consumer *c, struct pending p)
{
    size_t at = c->npending++;

    for (; at > 0 && is_older(&p, &c->pending[(at - 1) / 2]); at = (at - 1) / 2) {
        c->pending[at] = c->pending[(at - 1) / 2];
    }
    c->pending[at] = p;
}

static struct pending pop(struct consumer *c)
{
    struct pending top = c->pending[0], last = c->pending[--c->npending];
    size_t at = 0, child;

    for (; (child = 2 * at + 1) < c->npending; at = child) {
        child += child + 1 < c->npending && is_older(&c->pending[child + 1], &c->pending[child]);
        if (!is_older(&c->pending[child], &last)) {
            break;
        }
        c->pending[at] = c->pending[child];
    }
    c->pending[at] = last;
    return top;
}

static void keep(struct consumer *c, unsigned cpu, const uint8_t *record,
                 const struct epid_info *info, const struct epid_info *next)
{
    struct dtrace_record head;

    (void)next;
    if (c->npending == c->pending_room) {
        size_t room = c->pending_room ? c->pending_room * 2 : 256;
        struct pending *pending = realloc(c->pending, room * sizeof(*pending));
        if (!pending) {
            print_now(c, cpu, record, info, NULL);
            return;
        }
        c->pending = pending;
        c->pending_room = room;
    }
    uint8_t *copy = malloc(info->desc.size);
    if (!copy) {
        print_now(c, cpu, record, info, NULL);
        return;
    }
    memcpy(copy, record, info->desc.size);
    memcpy(&head, record, sizeof(head));
    push(c, (struct pending){
                .time = (uint64_t)head.time_high << 32 | head.time_low,
                .order = c->order++,
                .cpu = cpu,
                .data = copy,
                .size = info->desc.size,
            });
}

/* Known since it was kept. */
static const struct epid_info *info_of(struct consumer *c, const struct pending *pending)
{
    uint32_t epid;

    memcpy(&epid, pending->data, sizeof(epid));
    return consumer_epid(c, epid);
}

/* The next record, if the same CPU made it. */
static const struct epid_info *next_on_cpu(struct consumer *c, unsigned cpu)
{
    return c->npending && c->pending[0].cpu == cpu ? info_of(c, &c->pending[0]) : NULL;
}

/* Prints what is not newer than `until`. */
static void release(struct consumer *c, uint64_t until)
{
    while (c->npending && c->pending[0].time <= until) {
        struct pending p = pop(c);
        print_now(c, p.cpu, p.data, info_of(c, &p), next_on_cpu(c, p.cpu));
        free(p.data);
    }
}

static int take_buffer(struct consumer *c, unsigned cpu, uint64_t *oldest)
{
    struct dtrace_snap snap;
    int error = c->target->ops->buffer(c->target, cpu, c->buffer, c->bufsize, &snap);

    if (error) {
        return error;
    }
    message_drops(c, snap.drops, "drop|", "DTRACEDROP_PRINCIPAL", (int)cpu);
    walk(c, cpu, c->buffer, snap.size, c->temporal ? keep : print_now);
    *oldest = snap.taken && snap.taken < *oldest ? snap.taken : *oldest;
    return 0;
}

/* BEGIN's CPU first, END's last if this is the last pass. */
static unsigned cpu_in_order(const struct consumer *c, unsigned i, bool last)
{
    unsigned special = last ? c->end_cpu : c->begin_cpu;

    if (last) {
        return i + 1 == c->ncpus ? special : i < special ? i : i + 1;
    }
    return i == 0 ? special : i <= special ? i - 1 : i;
}

static int take_records(struct consumer *c, bool last)
{
    uint64_t oldest = UINT64_MAX;

    for (unsigned i = 0; i < c->ncpus; i++) {
        int error = take_buffer(c, cpu_in_order(c, i, last), &oldest);
        if (error) {
            return error;
        }
    }
    if (c->temporal) {
        release(c, last ? UINT64_MAX : oldest);
    }
    return 0;
}

bool consumer_is_over(const struct consumer *c)
{
    return c->last.exited || c->last.filled || c->last.state >= DTRACE_STATE_DRAINING;
}

/* The option says how often, without one: each time. Times are those for which a pass was meant,
 * not those at which it came to be. */
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

/* Unwritten output is lost from the stream: only the first failure is reported. */
void consumer_flush(struct consumer *c)
{
    if (fflush(c->printer.out) != 0 && c->write_error == 0) {
        c->write_error = errno;
    }
    if (ferror(c->printer.out) && c->write_error == 0) {
        c->write_error = EIO;
    }
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
        error = consumer_aggregate(c, cpu);
    }
    if (!error && records && !running_ring) {
        error = take_records(c, last);
    }
    consumer_flush(c);
    if (status.exited && status.exit_dropped && !c->status_set) {
        c->status = status.exit_status & 0xff; /* as a process has it */
    }
    return error;
}

void consumer_finish(struct consumer *c)
{
    for (unsigned i = 0; i < c->naggs; i++) {
        struct aggregation *a = &c->aggs[i];
        if (a->printed || a->nrows == 0) {
            continue;
        }
        if (c->json) {
            aggregation_json(c, a);
        } else {
            print_aggregations(&c->printer, &a, 1, NULL);
        }
    }
    consumer_flush(c);
}
