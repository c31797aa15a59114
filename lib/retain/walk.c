/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From CPU to CPU, from buffer to buffer, oldest first; before the first of one whose ring has
 * wrapped who lived; behind a CPU's last one what it panicked of, if it did, and what is lost of
 * it. See retain.h.
 */
#include <string.h>

#include "lib/retain/internal.h"

enum stage { LOOK, BEGIN, NAMES, BUFFERS, NOTES, PROGRAMS, CRASH, LOST };

#define DROPPED_MOST (KYMO_TRACE_REASONS * KYMO_TRACE_CLASSES)

void retain_rewind(struct retain *retain)
{
    retain->cpu = 0;
    retain->stage = LOOK;
    retain->buffers = 0;
    retain->programs = retain->records = retain->keys = 0;
    retain->losses = (struct retain_losses){0};
    retain->note_at = retain->note_done = 0;
    retain->wasted = 0;
    retain->notes_given = false;
    memset(&retain->note, 0, sizeof(retain->note));
}

/* Without a ring there is one CPU to tell of: the one that panicked. */
static uint32_t cpus(const struct retain *retain)
{
    return retain->header.ring.ncpu ? retain->header.ring.ncpu : KYMO_RETAIN_CPUS;
}

/* In a buffer of its CPU or, where that has no ACTIVE one, in the kernel's own data. */
static bool cursor_possible(const struct retain *retain)
{
    const struct kymo_retain_ring *ring = &retain->header.ring;
    uint64_t bytes = (uint64_t)ring->per_cpu * TRACE_BUFFER_BYTES;
    uint64_t cursor = retain->state.cursor - retain->header.base;

    return cursor - KYMO_RETAIN_LIVE < KYMO_RETAIN_LIVE_BYTES ||
           cursor - (ring->buffers + retain->cpu * bytes) <= bytes;
}

static void read_state(struct retain *retain)
{
    const struct kymo_retain_place *place = &retain->header.ring.cpu[retain->cpu];
    uint32_t frozen = KYMO_RETAIN_FROZEN + (uint32_t)offsetof(struct kymo_retain_frozen, cpu) +
                      retain->cpu * (uint32_t)sizeof(retain->state);
    int bad;

    memset(&retain->state, 0, sizeof(retain->state));
    if (retain->frozen) {
        bad = retain->read(retain->arg, frozen, &retain->state, sizeof(retain->state));
    } else {
        bad = retain->read(retain->arg, place->cursor, &retain->state.cursor,
                           retain->header.word_bits / 8) |
              retain->read(retain->arg, place->pending, retain->state.pending,
                           sizeof(retain->state.pending));
    }
    retain->state_known = !bad && cursor_possible(retain);
    if (!retain->state_known) {
        memset(&retain->state, 0, sizeof(retain->state));
    }
}

static void begin(struct retain *retain)
{
    retain->last = retain->given = 0;
    retain->time = 0;
    memset(&retain->state, 0, sizeof(retain->state));
    if (retain->header.ring.per_cpu) {
        read_state(retain);
    }
    for (uint32_t i = 0; i < retain->header.ring.per_cpu; i++) {
        retain->sequences[i] = retain_candidate(retain, i);
    }
}

/* The buffer with the lowest sequence above the last one's; -1: none. */
static int lowest(const struct retain *retain)
{
    int found = -1;

    for (uint32_t i = 0; i < retain->header.ring.per_cpu; i++) {
        uint32_t s = retain->sequences[i];

        if (s > retain->last && (found < 0 || s < retain->sequences[found])) {
            found = (int)i;
        }
    }
    return found;
}

static bool next_buffer(struct retain *retain, struct retain_piece *piece)
{
    for (int i = lowest(retain); i >= 0; i = lowest(retain)) {
        uint32_t sequence = retain->sequences[i];
        uint32_t count = retain_judge(retain, (uint32_t)i, &retain->time);

        if (count) {
            retain->last = sequence;
            retain->buffers++;
            retain->given++;
            if (retain_is_taken(retain, (uint32_t)i, sequence)) {
                retain->taken[retain->cpu] = (struct retain_taken){sequence, retain->given};
            }
            *piece = (struct retain_piece){retain->cpu, count, retain->slots};
            return true;
        }
    }
    return false;
}

/* Once over the CPUs' first buffers: who lived is told before all of them, by a CPU that has a
 * sequence left for it. One that has buffer 1 has not wrapped: its beginning is there. */
static void look(struct retain *retain)
{
    struct retain_piece piece;

    retain->first_time = UINT64_MAX;
    retain->names_sequence = 0;
    for (; retain->cpu < cpus(retain); retain->cpu++) {
        begin(retain);
        if (!next_buffer(retain, &piece)) {
            continue;
        }
        uint64_t time = (uint64_t)piece.slots[1].d1 << 32 | piece.slots[0].time;
        retain->first_time = time < retain->first_time ? time : retain->first_time;
        if (retain->names_sequence == 0) {
            retain->names_sequence = piece.slots[0].d1 - 1;
            retain->names_cpu = retain->cpu;
        }
    }
    retain->cpu = 0;
    retain->buffers = 0;
    retain->losses = (struct retain_losses){0};
}

static bool names(struct retain *retain, struct retain_piece *piece)
{
    if (retain->names_sequence == 0 || retain->cpu != retain->names_cpu) {
        return false;
    }
    *piece = (struct retain_piece){retain->cpu, retain_names_buffer(retain), retain->slots};
    return piece->count != 0;
}

/* Of two that say the same sequence one is wrong. */
static void give_up_doubles(struct retain *retain)
{
    for (uint32_t i = 0; i < retain->header.ring.per_cpu; i++) {
        if (retain->sequences[i]) {
            retain_give_up(retain, NULL);
        }
    }
}

/* Without a buffer there is nothing to describe. */
static bool notes(struct retain *retain, struct retain_piece *piece)
{
    if (retain->notes_given || retain->time == 0) {
        return false;
    }
    uint32_t count = retain_notes_buffer(retain, retain->last + 1, &retain->time);
    retain->notes_given = count == 0;
    retain->last += count != 0;
    *piece = (struct retain_piece){retain->cpu, count, retain->slots};
    return count != 0;
}

static bool programs(struct retain *retain, struct retain_piece *piece)
{
    uint32_t count = retain_d_buffer(retain, retain->last + 1, &retain->time);

    retain->last += count != 0;
    *piece = (struct retain_piece){retain->cpu, count, retain->slots};
    return count != 0;
}

static bool crash(struct retain *retain, struct retain_piece *piece)
{
    if (!retain->panicked || retain->panic.cpu != retain->cpu) {
        return false;
    }
    uint32_t count = retain_panic_buffer(retain, retain->last + 1, &retain->time);
    *piece = (struct retain_piece){retain->cpu, count, retain->slots};
    return count != 0;
}

/* A CPU without a slot has no time for its losses: they are told in losses only. */
static bool lost(struct retain *retain, struct retain_piece *piece)
{
    uint32_t n = 0;

    for (uint32_t k = 0; k < DROPPED_MOST; k++) {
        uint32_t reason = k / KYMO_TRACE_CLASSES, class = k % KYMO_TRACE_CLASSES;
        uint64_t events = retain->state.pending[reason][class];

        retain->losses.events += events;
        for (; events && reason && retain->time && n < TRACE_BUFFER_SLOTS; n++) {
            uint32_t part = events < UINT32_MAX ? (uint32_t)events : UINT32_MAX;

            retain->slots[n] =
                (struct trace_slot){RETAIN_CONTROL(retain->cpu, TRACE_CONTROL_DROPPED),
                                    (uint32_t)retain->time, reason << 8 | class, part};
            events -= part;
        }
    }
    *piece = (struct retain_piece){retain->cpu, n, retain->slots};
    return n != 0;
}

bool retain_next(struct retain *retain, struct retain_piece *piece)
{
    while (retain->cpu < cpus(retain)) {
        switch (retain->stage) {
        case LOOK:
            look(retain);
            retain->stage = BEGIN;
            break;
        case BEGIN:
            begin(retain);
            retain->stage = NAMES;
            break;
        case NAMES:
            retain->stage = BUFFERS;
            if (names(retain, piece)) {
                return true;
            }
            break;
        case BUFFERS:
            if (next_buffer(retain, piece)) {
                return true;
            }
            give_up_doubles(retain);
            retain->stage = NOTES;
            break;
        case NOTES:
            if (notes(retain, piece)) {
                return true;
            }
            retain->d.index = retain->d.stage = retain->d.event = 0;
            retain->stage = PROGRAMS;
            break;
        case PROGRAMS:
            if (programs(retain, piece)) {
                return true;
            }
            retain->stage = CRASH;
            break;
        case CRASH:
            retain->stage = LOST;
            if (crash(retain, piece)) {
                return true;
            }
            break;
        default:
            retain->stage = BEGIN;
            if (lost(retain, piece)) {
                retain->cpu++;
                return true;
            }
            retain->cpu++;
            break;
        }
    }
    return false;
}
