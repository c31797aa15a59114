/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads and spans of the timeline, from the flow. Proof: test/host/timeline/timeline_test.c.
 */
#include "host/timeline/make.h"

/* ---- threads ------------------------------------------------------------------------- */

static uint32_t spans_life(const struct make *make, int32_t pid, int32_t tid, int64_t ns)
{
    const struct kev_life *life = kev_capture_life_at(make->timeline->capture, pid, tid, ns);

    return life == NULL ? TIMELINE_NONE : make->thread_of_life[life - make->lives];
}

/* A reply may name a thread before an event of its own does, with which its life begins. */
void spans_meet(struct make *make, struct flow_thread *thread, int64_t ns)
{
    if (thread == NULL || thread->mark != FLOW_UNMARKED || make->failed) {
        return;
    }
    thread->mark = spans_life(make, thread->pid, thread->tid, ns);
    if (thread->mark != TIMELINE_NONE) {
        make->thread_of_serial[thread->serial] = thread->mark;
    }
}

static void spans_thread_met(void *arg, struct flow_thread *thread, int64_t ns)
{
    struct make *make = arg;
    uint32_t *entry = make_more(make, &make->thread_of_serial, &make->nserials, &make->serials_room,
                                sizeof(*entry));

    if (entry != NULL) {
        *entry = TIMELINE_NONE;
        spans_meet(make, thread, ns);
    }
}

uint32_t spans_thread(const struct flow_thread *thread)
{
    return thread == NULL ? TIMELINE_NONE : thread->mark;
}

static uint32_t spans_thread_of(const struct make *make, uint32_t serial)
{
    return serial >= make->nserials ? TIMELINE_NONE : make->thread_of_serial[serial];
}

/* ---- spans --------------------------------------------------------------------------- */

static struct timeline_span *spans_span_add(struct make *make, uint32_t thread, int64_t from,
                                            unsigned state)
{
    struct timeline *timeline = make->timeline;
    struct timeline_span *span =
        make_more(make, &timeline->spans, &timeline->nspans, &make->spans_room, sizeof(*span));

    if (span != NULL) {
        *span = (struct timeline_span){.from = from,
                                       .to = KEV_NEVER,
                                       .thread = thread,
                                       .by = TIMELINE_NONE,
                                       .other = TIMELINE_NONE,
                                       .cpu = -1,
                                       .priority = -1,
                                       .on = -1,
                                       .state = (uint8_t)state};
        timeline->threads[thread].count++;
    }
    return span;
}

/* A stretch of which nothing is known, from the previous span to `ns`. */
static void spans_gap(struct make *make, uint32_t thread, int64_t ns)
{
    struct timeline_span *span =
        ns > make->ended[thread]
            ? spans_span_add(make, thread, make->ended[thread], TIMELINE_UNKNOWN)
            : NULL;

    if (span != NULL) {
        span->to = make->ended[thread] = ns;
    }
}

static void spans_span_begin(void *arg, struct flow_thread *of, struct flow_state *state)
{
    struct make *make = arg;
    struct timeline_span *span;

    spans_meet(make, of, state->since);
    if (of->mark == TIMELINE_NONE) {
        return;
    }
    spans_gap(make, of->mark, state->since);
    span = spans_span_add(make, of->mark, state->since, (unsigned)state->state);
    if (span == NULL) {
        return;
    }
    state->mark = make->timeline->nspans - 1;
    make->ended[of->mark] = state->since;
    span->object = state->object;
    span->cause = state->cause;
    span->by = state->cause == FLOW_CAUSE_THREAD      ? spans_thread_of(make, state->by)
               : state->cause == FLOW_CAUSE_INTERRUPT ? state->by
                                                      : TIMELINE_NONE;
    if (span->cause == TIMELINE_CAUSE_THREAD && span->by == TIMELINE_NONE) {
        span->cause = TIMELINE_CAUSE_UNKNOWN; /* by a thread of which no event tells */
    }
    span->other = state->owner != 0 ? spans_thread_of(make, state->owner) : state->message;
    span->priority = state->priority;
    span->on = state->on;
    span->cpu = state->cpu;
    span->flags = state->begun ? TIMELINE_FROM : 0;
}

static void spans_span_end(void *arg, const struct flow_thread *of, const struct flow_state *state,
                           int64_t to, bool ended)
{
    const struct make *make = arg;

    if (state->mark != FLOW_UNMARKED) {
        make->timeline->spans[state->mark].to = make->ended[of->mark] = to;
        make->timeline->spans[state->mark].flags |= ended ? TIMELINE_TO : 0;
    }
}

void spans_end(struct make *make)
{
    const struct timeline *timeline = make->timeline;

    for (uint32_t i = 0; i < timeline->nthreads && !make->failed; i++) {
        spans_gap(make, i,
                  timeline->threads[i].to < timeline->to ? timeline->threads[i].to : timeline->to);
    }
}

/* ---- coverage ------------------------------------------------------------------------ */

static void spans_covered(void *arg, int64_t ns, bool all)
{
    struct make *make = arg;
    struct timeline *timeline = make->timeline;
    struct timeline_stretch *stretch;

    if (!all) {
        if (timeline->ncovered > 0) {
            timeline->covered[timeline->ncovered - 1].to = ns;
        }
        return;
    }
    stretch = make_more(make, &timeline->covered, &timeline->ncovered, &make->covered_room,
                        sizeof(*stretch));
    if (stretch != NULL) {
        *stretch = (struct timeline_stretch){ns, KEV_NEVER};
    }
}

const struct flow_ops spans_ops = {.thread = spans_thread_met,
                                   .begin = spans_span_begin,
                                   .span = spans_span_end,
                                   .close = others_close,
                                   .abandon = others_abandon,
                                   .covered = spans_covered};
