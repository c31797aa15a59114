/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The path through what a thread waited for. While it waits, what counts is the thread that holds
 * it: the owner of the mutex, the server, else the one that woke it in the end; and while that one
 * waits, the next. Proof: test/host/why/why_test.c, test/host/why/check.
 */
#include <stdlib.h>

#include "host/why/why.h"

const struct timeline_span *why_next(const struct timeline *timeline,
                                     const struct timeline_span *span)
{
    const struct timeline_thread *thread = &timeline->threads[span->thread];
    uint32_t low = 0, high = thread->count;
    uint32_t self = (uint32_t)(span - timeline->spans);

    while (low < high) { /* a thread's spans are in the order of their indexes */
        uint32_t middle = low + (high - low) / 2;

        if (timeline->by_thread[thread->first + middle] <= self) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low == thread->count ? NULL : timeline_span(timeline, span->thread, low);
}

uint32_t why_holder(const struct timeline *timeline, const struct timeline_span *span)
{
    if (span->state == STATE_REPLY || span->state == STATE_SEND) {
        return span->other == TIMELINE_NONE ? TIMELINE_NONE
                                            : timeline->messages[span->other].server;
    }
    return span->state == STATE_MUTEX ? span->other : TIMELINE_NONE;
}

uint32_t why_waker(const struct timeline *timeline, const struct timeline_span *span)
{
    const struct timeline_span *next = span->flags & TIMELINE_TO ? why_next(timeline, span) : NULL;

    return next == NULL || next->cause != TIMELINE_CAUSE_THREAD ? TIMELINE_NONE : next->by;
}

uint32_t why_waited_for(const struct timeline *timeline, const struct timeline_span *span)
{
    if (span->state == STATE_REPLY || span->state == STATE_SEND) {
        return why_holder(timeline,
                          span); /* a kill or a timeout ends it for no reason of its own */
    }
    return span->state == STATE_MUTEX && span->other != TIMELINE_NONE ? span->other
                                                                      : why_waker(timeline, span);
}

static bool why_path_is_wait(unsigned state)
{
    return state != STATE_RUNNING && state != STATE_READY && state != STATE_DEAD &&
           state != STATE_STOPPED && state != TIMELINE_UNKNOWN;
}

static void part_add(struct why *why, const struct why_part *part)
{
    if (part->from >= part->to || why->no_memory) {
        return;
    }
    if (why->nparts == WHY_PARTS) {
        why->full = true;
        return;
    }
    if (why->nparts == why->parts_room) {
        uint32_t room = why->parts_room == 0 ? 64 : 2 * why->parts_room;
        struct why_part *parts = realloc(why->parts, room * sizeof(*parts));

        why->no_memory = parts == NULL;
        if (why->no_memory) {
            return;
        }
        why->parts = parts;
        why->parts_room = room;
    }
    why->parts[why->nparts++] = *part;
}

/* ---- inversions -------------------------------------------------------------------- */

static void inversion_add(struct why *why, const struct why_inversion *found)
{
    const unsigned most = sizeof(why->inversions) / sizeof(why->inversions[0]);

    for (unsigned i = 0; i < why->ninversions; i++) {
        struct why_inversion *old = &why->inversions[i];

        if (old->victim == found->victim && old->holder == found->holder &&
            old->middle == found->middle && old->state == found->state) {
            old->ns += found->ns;
            return;
        }
    }
    if (why->ninversions < most) {
        why->inversions[why->ninversions++] = *found;
    }
}

/* `holder` is READY; each of `waiting`, innermost last, waits for the next one. */
static void inversions_find(struct why *why, const struct why_part *part,
                            const uint32_t waiting[WHY_DEPTH])
{
    const struct timeline *timeline = why->timeline;
    const struct timeline_span *own = &timeline->spans[part->span];
    struct why_ran ran[WHY_RAN];
    unsigned n;

    if (part->depth == 0 || own->priority < 0) {
        return;
    }
    n = why_ran(timeline, part->thread, part->from, part->to, ran);
    for (unsigned level = 0; level < part->depth; level++) {
        const struct timeline_span *victim = &timeline->spans[waiting[level]];

        for (unsigned i = 0; i < n; i++) {
            if (ran[i].thread == TIMELINE_NONE || timeline->threads[ran[i].thread].idle ||
                ran[i].priority < 0 || victim->priority <= ran[i].priority ||
                ran[i].priority < own->priority || own->priority >= victim->priority) {
                continue;
            }
            inversion_add(why, &(struct why_inversion){.victim = victim->thread,
                                                       .holder = part->thread,
                                                       .middle = ran[i].thread,
                                                       .victim_priority = victim->priority,
                                                       .holder_priority = own->priority,
                                                       .middle_priority = ran[i].priority,
                                                       .ns = ran[i].ns,
                                                       .state = victim->state});
        }
    }
}

/* ---- the path ---------------------------------------------------------------------- */

/* Returns whether the thread waits for itself, or for one of those that wait for it: in time, each
 * part of a path lies within the wait above it. */
static bool path_is_circle(const struct timeline *timeline, uint32_t thread, uint32_t other,
                           const uint32_t waiting[WHY_DEPTH], unsigned depth)
{
    bool circle = other == thread;

    for (unsigned i = 0; i < depth; i++) {
        circle |= timeline->spans[waiting[i]].thread == other;
    }
    return circle;
}

static void path_follow(struct why *why, uint32_t thread, int64_t from, int64_t to,
                        uint32_t waiting[WHY_DEPTH], unsigned depth)
{
    const struct timeline *timeline = why->timeline;
    uint32_t at = timeline_span_find(timeline, thread, from);
    int64_t done = from;

    for (; at < timeline->threads[thread].count && done < to && !why->full; at++) {
        const struct timeline_span *span = timeline_span(timeline, thread, at);
        struct why_part part = {.from = span->from > from ? span->from : from,
                                .to = span->to < to ? span->to : to,
                                .thread = thread,
                                .span = (uint32_t)(span - timeline->spans),
                                .depth = (uint16_t)depth};
        uint32_t other =
            why_path_is_wait(span->state) ? why_waited_for(timeline, span) : TIMELINE_NONE;

        if (part.from >= to) {
            break;
        }
        if (part.from > done) { /* it did not live */
            part_add(why, &(struct why_part){done, part.from, thread, TIMELINE_NONE,
                                             (uint16_t)depth, false, false});
        }
        done = part.to > done ? part.to : done;
        part.circle =
            other != TIMELINE_NONE && path_is_circle(timeline, thread, other, waiting, depth);
        part.cut = other != TIMELINE_NONE && (depth + 1 == WHY_DEPTH || part.circle);
        part_add(why, &part);
        if (span->state == STATE_READY) {
            inversions_find(why, &part, waiting);
        }
        if (other != TIMELINE_NONE && !part.cut) {
            waiting[depth] = part.span;
            path_follow(why, other, part.from, part.to, waiting, depth + 1);
        }
    }
    if (done < to) {
        part_add(why, &(struct why_part){done, to, thread, TIMELINE_NONE, (uint16_t)depth, false,
                                         false});
    }
}

/* The wake-ups back from `ns`, until an interrupt, a thread that is in the chain already, or what
 * is not known. */
static void why_chain_find(struct why *why, uint32_t thread, int64_t ns)
{
    const struct timeline *timeline = why->timeline;

    while (why->nchain < WHY_CHAIN) {
        uint32_t at = timeline_span_find(timeline, thread, ns);
        const struct timeline_span *span = NULL;

        at = at == timeline->threads[thread].count ? at : at + 1;
        while (at > 0) {
            const struct timeline_span *before = timeline_span(timeline, thread, --at);

            if (before->from > ns) {
                continue;
            }
            if (before->state == TIMELINE_UNKNOWN) {
                break;
            }
            if (before->state == STATE_READY && (before->cause == TIMELINE_CAUSE_THREAD ||
                                                 before->cause == TIMELINE_CAUSE_INTERRUPT)) {
                span = before;
                break;
            }
        }
        if (span == NULL) {
            return;
        }
        why->chain[why->nchain++] = (struct why_link){span->from, thread, span->by, span->cause};
        if (span->cause == TIMELINE_CAUSE_INTERRUPT) {
            return;
        }
        for (unsigned i = 0; i < why->nchain; i++) {
            if (why->chain[i].thread == span->by) { /* it answers what that one began itself */
                return;
            }
        }
        thread = span->by;
        ns = span->from;
    }
}

bool why_path(struct why *why, const struct timeline *timeline, uint32_t thread, int64_t from,
              int64_t to)
{
    uint32_t waiting[WHY_DEPTH];

    *why = (struct why){.timeline = timeline, .thread = thread, .from = from, .to = to};
    path_follow(why, thread, from, to, waiting, 0);
    why_chain_find(why, thread, to > from ? to - 1 : to);
    return !why->no_memory;
}

void why_free(struct why *why)
{
    free(why->parts);
}
