/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The walk through the retained data. Each CPU has a sequence of pieces: its buffers, oldest first;
 * the notes of D's consumers, D's own buffers; its panic, if any; its losses. The sequences are
 * merged by the time at which their next piece begins, as the ring's process writes a stopped ring.
 * If a ring has wrapped, the names of processes and threads come first. See retain.h.
 */
#include <stdio.h>
#include <string.h>

#include "lib/retain/judge.h"
#include "lib/retain/made.h"

enum stage { NAMES, BUFFERS, NOTES, PROGRAMS, CRASH, LOST, END };

#define DROPPED_MOST (KYMO_TRACE_REASONS * KYMO_TRACE_CLASSES)
#define LOST_SLOTS 1024u /* most of one CPU: damaged counters may claim any number of events */
#define NEVER UINT64_MAX

void retain_rewind(struct retain *retain)
{
    retain->looked = false;
    retain->buffers = 0;
    retain->programs = retain->records = retain->keys = 0;
    retain->losses = (struct retain_losses){0};
    retain->note_at = retain->note_done = 0;
    retain->wasted = 0;
    retain->notes_given = false;
    memset(&retain->note, 0, sizeof(retain->note));
}

/* Without a ring there is one CPU to report: the one that panicked. */
static uint32_t retain_walk_ncpus(const struct retain *retain)
{
    return retain->header.ring.ncpu ? retain->header.ring.ncpu : RETAIN_CPUS_MOST;
}

/* The cursor is in a buffer of its CPU or, without an ACTIVE one, in the kernel's own data. */
static bool cursor_possible(const struct retain *retain)
{
    const struct kymo_retain_ring *ring = &retain->header.ring;
    uint64_t bytes = (uint64_t)ring->per_cpu * ring->buffer_bytes;
    uint64_t cursor = retain->walk[retain->cpu].state.cursor - retain->header.base;

    return cursor - retain->header.areas.live.at < retain->header.areas.live.bytes ||
           cursor - (ring->buffers + retain->cpu * bytes) <= bytes;
}

static void read_state(struct retain *retain)
{
    struct retain_walk *here = retain_here(retain);
    const struct kymo_retain_place *place = &retain->header.ring.cpu[retain->cpu];
    uint32_t frozen = (uint32_t)offsetof(struct kymo_retain_frozen, cpu) +
                      retain->cpu * (uint32_t)sizeof(here->state);
    int bad;

    if (retain->frozen_damaged) {
        bad = true; /* and the next boot's own are where they were */
    } else if (retain->frozen) {
        bad = !retain_area_read(retain, &retain->header.areas.frozen, frozen, &here->state,
                                sizeof(here->state));
    } else {
        bad = retain->read(retain->arg, place->cursor, &here->state.cursor,
                           retain->header.word_bits / 8) |
              retain->read(retain->arg, place->pending, here->state.pending,
                           sizeof(here->state.pending));
    }
    here->state_known = !bad && cursor_possible(retain);
    if (!here->state_known) {
        memset(&here->state, 0, sizeof(here->state));
    }
}

static void retain_walk_begin_window(struct retain *retain)
{
    struct retain_walk *here = retain_here(retain);

    *here = (struct retain_walk){.stage = NAMES};
    if (retain->header.ring.per_cpu) {
        read_state(retain);
    }
    for (uint32_t i = 0; i < retain->header.ring.per_cpu; i++) {
        here->sequences[i] = retain_candidate(retain, i);
    }
}

/* Returns the buffer with the lowest sequence above the previous one's; -1: none. */
static int retain_walk_lowest_buffer(struct retain *retain)
{
    const struct retain_walk *here = retain_here(retain);
    int found = -1;

    for (uint32_t i = 0; i < retain->header.ring.per_cpu; i++) {
        uint32_t s = here->sequences[i];

        if (s > here->last && (found < 0 || s < here->sequences[found])) {
            found = (int)i;
        }
    }
    return found;
}

/* Returns the next buffer if it is valid. An invalid one is given up, and yields no piece. */
static bool next_buffer(struct retain *retain, int i, struct retain_piece *piece)
{
    struct retain_walk *here = retain_here(retain);
    uint32_t sequence = here->sequences[i];
    uint32_t count = retain_judge(retain, (uint32_t)i, &here->time);

    if (count == 0) {
        return false;
    }
    here->last = sequence;
    retain->buffers++;
    here->given++;
    if (retain_is_taken(retain, (uint32_t)i, sequence)) {
        retain->taken[retain->cpu] = (struct retain_taken){sequence, here->given};
    }
    *piece = (struct retain_piece){retain->cpu, count, retain->slots};
    return true;
}

/* Chooses the CPU whose sequence numbers are used for the buffers with names: the first one that
 * had enough buffers overwritten, or else the one that had most. gone: the buffers overwritten on
 * each CPU; if none is, the recording has the names itself. */
static void plan_names(struct retain *retain, const uint32_t gone[RETAIN_CPUS_MOST])
{
    uint32_t wanted = retain_names_plan(retain), cpu = 0;

    for (uint32_t i = 1; i < retain_walk_ncpus(retain) && gone[cpu] < wanted; i++) {
        cpu = gone[i] > gone[cpu] ? i : cpu;
    }
    retain->names_cpu = gone[cpu] ? cpu : retain_walk_ncpus(retain);
    retain->names_left = wanted < gone[cpu] ? wanted : gone[cpu];
    retain->names_sequence = gone[cpu] + 1 - retain->names_left;
}

/* Runs once, over the CPUs' first buffers. */
static void retain_walk_look_buffers(struct retain *retain)
{
    struct retain_piece piece;
    uint32_t gone[RETAIN_CPUS_MOST] = {0};

    retain->first_time = UINT64_MAX;
    retain->first_cpu = retain_walk_ncpus(retain);
    for (retain->cpu = 0; retain->cpu < retain_walk_ncpus(retain); retain->cpu++) {
        bool found = false;

        retain_walk_begin_window(retain);
        for (int i = retain_walk_lowest_buffer(retain); i >= 0 && !found;
             i = retain_walk_lowest_buffer(retain)) {
            found = next_buffer(retain, i, &piece);
        }
        if (!found) {
            continue;
        }
        uint64_t time = (uint64_t)piece.slots[1].d1 << 32 | piece.slots[0].time;
        retain->first_time = time < retain->first_time ? time : retain->first_time;
        if (retain->first_cpu == retain_walk_ncpus(retain)) {
            retain->first_cpu = retain->cpu;
        }
        gone[retain->cpu] = piece.slots[0].d1 - 1;
    }
    plan_names(retain, gone);
    retain->buffers = 0;
    retain->losses = (struct retain_losses){0};
    memset(retain->taken, 0, sizeof(retain->taken));
    for (retain->cpu = 0; retain->cpu < retain_walk_ncpus(retain); retain->cpu++) {
        retain_walk_begin_window(retain);
    }
}

static bool retain_walk_put_names(struct retain *retain, struct retain_piece *piece)
{
    uint32_t count;

    if (retain->cpu != retain->names_cpu) {
        return false;
    }
    count = retain->names_left ? retain_names_buffer(retain) : 0;
    if (count == 0) {
        retain_names_lost(retain);
        return false;
    }
    retain->names_left--;
    *piece = (struct retain_piece){retain->cpu, count, retain->slots};
    return true;
}

/* If two have the same sequence, one is wrong. */
static void give_up_doubles(struct retain *retain)
{
    for (uint32_t i = 0; i < retain->header.ring.per_cpu; i++) {
        if (retain_here(retain)->sequences[i]) {
            retain_give_up(retain, NULL);
        }
    }
}

/* Without a buffer there is nothing to describe. */
static bool retain_walk_put_notes(struct retain *retain, struct retain_piece *piece)
{
    struct retain_walk *here = retain_here(retain);

    if (retain->notes_given || retain->cpu != retain->first_cpu || here->time == 0) {
        return false;
    }
    uint32_t count = retain_notes_buffer(retain, here->last + 1, &here->time);
    retain->notes_given = count == 0;
    here->last += count != 0;
    *piece = (struct retain_piece){retain->cpu, count, retain->slots};
    return count != 0;
}

static bool retain_walk_put_programs(struct retain *retain, struct retain_piece *piece)
{
    struct retain_walk *here = retain_here(retain);
    uint32_t count = retain_d_buffer(retain, here->last + 1, &here->time);

    here->last += count != 0;
    *piece = (struct retain_piece){retain->cpu, count, retain->slots};
    return count != 0;
}

static bool is_the_panics(const struct retain *retain, uint32_t cpu)
{
    return retain->panicked && retain->panic.cpu == cpu;
}

static bool retain_walk_put_crash(struct retain *retain, struct retain_piece *piece)
{
    struct retain_walk *here = retain_here(retain);

    if (!is_the_panics(retain, retain->cpu)) {
        return false;
    }
    uint32_t count = retain_panic_buffer(retain, here->last + 1, &here->time);
    *piece = (struct retain_piece){retain->cpu, count, retain->slots};
    return count != 0;
}

static void count_pending(struct retain *retain)
{
    for (uint32_t k = 0; k < DROPPED_MOST; k++) {
        retain->losses.events +=
            retain_here(retain)->state.pending[k / KYMO_TRACE_CLASSES][k % KYMO_TRACE_CLASSES];
    }
}

/* Takes as many pending losses as one piece holds. A CPU without a slot has no time for its losses:
 * they are reported in losses only; so are those beyond LOST_SLOTS. */
static bool retain_walk_put_losses(struct retain *retain, struct retain_piece *piece)
{
    struct retain_walk *here = retain_here(retain);
    uint32_t n = 0, left = here->time ? LOST_SLOTS - here->lost_slots : 0;
    uint32_t most = left < retain->buffer_slots ? left : retain->buffer_slots;

    for (uint32_t k = KYMO_TRACE_CLASSES; k < DROPPED_MOST; k++) { /* reason 0 is none */
        uint32_t reason = k / KYMO_TRACE_CLASSES, class = k % KYMO_TRACE_CLASSES;
        uint64_t *events = &here->state.pending[reason][class];

        for (; *events && n < most; n++) {
            uint32_t part = *events < UINT32_MAX ? (uint32_t)*events : UINT32_MAX;

            retain->slots[n] =
                (struct trace_slot){RETAIN_CONTROL(retain->cpu, TRACE_CONTROL_DROPPED),
                                    (uint32_t)here->time, reason << 8 | class, part};
            *events -= part;
        }
    }
    here->lost_slots += n;
    *piece = (struct retain_piece){retain->cpu, n, retain->slots};
    return n != 0;
}

/* ---- the merge --------------------------------------------------------------------- */

/* Returns the time at which a buffer begins, from its first two slots; if they are not BUFFER and
 * TIME of that sequence, the end of the previous buffer. A damaged buffer may give a wrong time,
 * but yields no piece. */
static uint64_t buffer_begins(struct retain *retain, int i)
{
    const struct retain_walk *here = retain_here(retain);
    struct trace_slot head[2];

    if (retain->read(retain->arg, retain_offset(retain, (uint32_t)i), head, sizeof(head)) != 0 ||
        head[0].header != RETAIN_CONTROL(retain->cpu, TRACE_CONTROL_BUFFER) ||
        head[1].header != RETAIN_CONTROL(retain->cpu, TRACE_CONTROL_TIME) ||
        head[0].d1 != here->sequences[i]) {
        return here->time;
    }
    uint64_t begins = (uint64_t)head[1].d1 << 32 | head[0].time;
    return begins > here->time ? begins : here->time;
}

/* Returns the time at which the current CPU's next piece begins. NEVER: it has none. */
static uint64_t next_begins(struct retain *retain)
{
    const struct retain_walk *here = retain_here(retain);
    int i;

    switch (here->stage) {
    case NAMES:
        return 0;
    case BUFFERS:
        i = retain_walk_lowest_buffer(retain);
        return i < 0 ? here->time : buffer_begins(retain, i);
    case CRASH:
        return is_the_panics(retain, retain->cpu) && retain->panic.time > here->time
                   ? retain->panic.time
                   : here->time;
    case END:
        return NEVER;
    default:
        return here->time;
    }
}

/* Selects the CPU whose next piece begins first; false: there are no more. D's own pieces are made
 * one CPU after the other: their stamps increase by one. */
static bool retain_walk_choose_cpu(struct retain *retain)
{
    uint64_t first = NEVER;
    uint32_t chosen = retain->cpu;

    if (chosen < retain_walk_ncpus(retain) && retain_here(retain)->stage == PROGRAMS) {
        return true;
    }
    for (retain->cpu = 0; retain->cpu < retain_walk_ncpus(retain); retain->cpu++) {
        uint64_t begins = next_begins(retain);

        if (begins < first) {
            first = begins;
            chosen = retain->cpu;
        }
    }
    retain->cpu = chosen;
    return first != NEVER;
}

/* A step of the current CPU: returns true if it yields a piece. */
static bool retain_walk_step_cpu(struct retain *retain, struct retain_piece *piece)
{
    struct retain_walk *here = retain_here(retain);
    int i;

    switch (here->stage) {
    case NAMES:
        if (retain_walk_put_names(retain, piece)) {
            return true;
        }
        here->stage = BUFFERS;
        return false;
    case BUFFERS:
        i = retain_walk_lowest_buffer(retain);
        if (i >= 0) {
            return next_buffer(retain, i, piece);
        }
        give_up_doubles(retain);
        here->stage = NOTES;
        return false;
    case NOTES:
        if (retain_walk_put_notes(retain, piece)) {
            return true;
        }
        retain->d.index = retain->d.stage = retain->d.event = 0;
        here->stage = PROGRAMS;
        return false;
    case PROGRAMS:
        if (retain_walk_put_programs(retain, piece)) {
            return true;
        }
        here->stage = CRASH;
        return false;
    case CRASH:
        here->stage = LOST;
        count_pending(retain);
        return retain_walk_put_crash(retain, piece);
    default:
        if (retain_walk_put_losses(retain, piece)) {
            return true;
        }
        here->stage = END;
        return false;
    }
}

bool retain_next(struct retain *retain, struct retain_piece *piece)
{
    if (!retain->looked) {
        retain_walk_look_buffers(retain);
        retain->looked = true;
    }
    while (retain_walk_choose_cpu(retain)) {
        if (retain_walk_step_cpu(retain, piece)) {
            return true;
        }
    }
    return false;
}

bool retain_taken_text(const struct retain *retain, unsigned n, char key[RETAIN_TAKEN_KEY],
                       char value[RETAIN_TAKEN_VALUE])
{
    for (unsigned cpu = 0, rows = 0; cpu < RETAIN_CPUS_MOST; cpu++) {
        const struct retain_taken *taken = &retain->taken[cpu];

        if (taken->here != 0 && rows++ == n) {
            snprintf(key, RETAIN_TAKEN_KEY, "RETAINED_TAKEN_%u", n + 1);
            snprintf(value, RETAIN_TAKEN_VALUE, "CPU %u: buffers up to %u, %u of them here", cpu,
                     (unsigned)taken->last, (unsigned)taken->here);
            return true;
        }
    }
    return false;
}
