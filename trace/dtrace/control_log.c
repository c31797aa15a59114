/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The control call's part for a consumer whose records go to the event log, see log.h: passes and
 * notes. An event of a pass that finds no room is missing; the reader knows which events to expect.
 * Control context.
 */
#include "abi/errno.h"
#include "abi/sys/dtrace.h"
#include "trace/assert.h"
#include "trace/dtrace/log.h"
#include "trace/dtrace/port.h"

enum { DUMP_PIECE = 4 * DTRACE_LOG_NOTES_PART };

/* ---- a pass ------------------------------------------------------------------------ */

struct log_pass {
    struct dtrace_consumer *c;
    uint32_t number;
    bool complete; /* everything that marks the end of its parts is logged */
};

/* Logs a CPU's records and their end. Runs on that CPU. */
static void control_log_taken(void *arg)
{
    struct log_pass *p = arg;
    struct dtrace_consumer_cpu *here = &p->c->cpus[dtrace_port_cpu()];
    struct dtrace_buffer *b = &here->principal;

    dtrace_log_records(p->c, here);
    const struct dtrace_snap snap = {
        .drops = b->drops, .errors = b->errors, .taken = dtrace_port_timestamp()};
    const uint32_t words[] = {p->c->log_id, p->number, here->logged, 0};
    b->drops = b->errors = 0;
    p->complete &= dtrace_port_log(DTRACE_LOG_TAKEN, words, 4, &snap, sizeof(snap));
}

/* Logs the entries of a CPU's aggregation buffer, and their number. */
static void log_aggregation(struct log_pass *p, unsigned cpu)
{
    struct dtrace_agg_entry entry;
    struct dtrace_snap snap;
    struct dtrace_parts parts;
    uint32_t n = 0;

    if (dtrace_aggregation_take(p->c, cpu, SIZE_MAX, &parts, &snap) != 0) {
        return;
    }
    const uint8_t *at = parts.at[0];
    for (const uint8_t *end = at + snap.size; at < end; at += entry.size) {
        const uint32_t words[] = {p->c->log_id, p->number, cpu, n++};
        __builtin_memcpy(&entry, at, sizeof(entry));
        dtrace_port_log(DTRACE_LOG_ENTRY, words, 4, at, entry.size);
        dtrace_window();
    }
    const uint32_t words[] = {
        p->c->log_id, p->number, cpu, n, (uint32_t)snap.drops, (uint32_t)(snap.drops >> 32)};
    p->complete &= dtrace_port_log(DTRACE_LOG_ENTRIES, words, 6, NULL, 0);
}

bool dtrace_log_pass(struct dtrace_consumer *c, uint32_t number, uint32_t flags)
{
    struct log_pass p = {c, number, true};
    struct dtrace_status status;

    trace_assert(c->logs);
    dtrace_consumer_status(c, &status);
    if (flags & DTRACE_LOG_PROCESSES) { /* the records may contain their addresses */
        struct kymo_d_process process;
        for (int32_t pid = dtrace_port_next_process(0, &process); pid;
             pid = dtrace_port_next_process(pid, &process)) {
            const uint32_t words[] = {c->log_id, (uint32_t)pid, 0, 0};
            dtrace_port_log(DTRACE_LOG_PROCESS, words, 4, &process, sizeof(process));
            dtrace_window();
        }
    }
    const uint32_t words[] = {c->log_id, number, flags, c->begin_cpu | c->end_cpu << 16};
    p.complete &= dtrace_port_log(DTRACE_LOG_STATUS, words, 4, &status, sizeof(status));
    for (unsigned cpu = 0; cpu < c->ncpus; cpu++) {
        log_aggregation(&p, cpu);
    }
    for (unsigned cpu = 0; cpu < c->ncpus; cpu++) {
        dtrace_port_run_on(cpu, control_log_taken, &p);
    }
    return p.complete;
}

/* ---- notes ------------------------------------------------------------------------- */

int dtrace_log_notes_keep(struct dtrace_consumer *c, const void *bytes, uint32_t n)
{
    bool again = c->notes.at != NULL;
    struct dtrace_block made;

    if (!dtrace_block_make(&made, n)) {
        return -ENOMEM;
    }
    dtrace_copy_long(made.at, bytes, n);
    dtrace_block_free(&c->notes);
    c->notes = made;
    dtrace_port_notes(c->log_id, again ? NULL : c->notes.at, n);
    return 0;
}

bool dtrace_log_notes_of(unsigned i, uint32_t *id, const void **bytes, uint32_t *n)
{
    for (const struct dtrace_consumer *c = dtrace_consumers; c; c = c->next) {
        if (c->notes.at && i-- == 0) {
            *id = c->log_id;
            *bytes = c->notes.at;
            *n = (uint32_t)c->notes.bytes;
            return true;
        }
    }
    return false;
}

static uint32_t log_notes_until(const struct dtrace_consumer *c, uint32_t from, uint32_t until)
{
    uint32_t total = (uint32_t)c->notes.bytes;

    until = until < total ? until : total;
    while (from < until) {
        const uint32_t words[] = {c->log_id, total, from};
        uint32_t n = until - from < DTRACE_LOG_NOTES_PART ? until - from : DTRACE_LOG_NOTES_PART;
        if (!dtrace_port_log_room() ||
            !dtrace_port_log(DTRACE_LOG_NOTES, words, 3, (const uint8_t *)c->notes.at + from, n)) {
            break;
        }
        from += n;
        dtrace_window();
    }
    return from;
}

uint32_t dtrace_log_notes(const struct dtrace_consumer *c, uint32_t from)
{
    return log_notes_until(c, from, UINT32_MAX);
}

bool dtrace_log_dump(unsigned part)
{
    for (const struct dtrace_consumer *c = dtrace_consumers; c; c = c->next) {
        unsigned parts = (unsigned)(c->notes.bytes + DUMP_PIECE - 1) / DUMP_PIECE;
        if (part < parts) {
            log_notes_until(c, part * DUMP_PIECE, (part + 1) * DUMP_PIECE);
            return true;
        }
        part -= parts;
    }
    return false;
}
