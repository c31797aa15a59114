/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The states of threads, as `kymo stat` has them (host/stat/threads.c): a thread runs from its
 * THRUNNING on a CPU until the next THRUNNING there; a state that it takes on while it is still
 * current begins when it leaves the CPU. Proof: test/host/timeline/timeline_test.c.
 */
#include "host/pr_th.h"
#include "host/timeline/make.h"

static struct timeline_span *timeline_span_add(struct make *make, uint32_t thread, int64_t from,
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

/* Ends the open span: at `ns`, if it was known until then. */
static void span_end(struct make *make, uint32_t thread, int64_t ns)
{
    struct make_thread *of = &make->threads[thread];
    struct timeline_span *span;

    if (of->open == TIMELINE_NONE) {
        return;
    }
    span = &make->timeline->spans[of->open];
    of->open = TIMELINE_NONE;
    span->flags |= TIMELINE_TO;
    span->to = ns;
    if (span->state != STATE_RUNNING && !make_known(make, of->epoch)) {
        span->to = of->epoch == make->epoch ? ns : make->epoch_end[of->epoch];
        span->flags &= ~TIMELINE_TO;
    }
    of->ended = span->to;
}

/* A stretch of which nothing is known, from the previous span to `ns`. */
static void gap_fill(struct make *make, uint32_t thread, int64_t ns)
{
    struct make_thread *of = &make->threads[thread];

    if (ns > of->ended) {
        struct timeline_span *span = timeline_span_add(make, thread, of->ended, TIMELINE_UNKNOWN);

        if (span != NULL) {
            span->to = ns;
            of->ended = ns;
        }
    }
}

static void span_begin(struct make *make, uint32_t thread, int64_t ns,
                       const struct make_state *state, int cpu)
{
    struct make_thread *of = &make->threads[thread];
    struct timeline_span *span;

    gap_fill(make, thread, ns);
    span = timeline_span_add(make, thread, ns, state->state);
    if (span == NULL) {
        return;
    }
    span->object = state->object;
    span->by = state->by;
    span->other = state->other;
    span->priority = state->priority;
    span->on = state->on;
    span->cause = state->cause;
    span->flags = state->dumped ? 0 : TIMELINE_FROM;
    span->cpu = (int16_t)cpu;
    of->ended = ns;
    of->epoch = make->epoch;
    of->open = make->timeline->nspans - 1;
}

/* The CPU's current thread leaves it. Which state it has since taken on is known if it was seen. */
static void timeline_cpu_leave(struct make *make, unsigned on, int64_t ns, bool known)
{
    struct make_cpu *cpu = &make->cpus[on];
    uint32_t thread = cpu->current;
    struct make_thread *of;

    if (thread == TIMELINE_NONE) {
        return;
    }
    of = &make->threads[thread];
    cpu->current = TIMELINE_NONE;
    cpu->handed = TIMELINE_NONE;
    of->cpu = -1;
    if (of->open != TIMELINE_NONE) {
        struct timeline_span *span = &make->timeline->spans[of->open];

        of->open = TIMELINE_NONE;
        span->to = of->ended = ns;
        span->flags |= known ? TIMELINE_TO : 0;
    }
    if (known && of->next.state != TIMELINE_UNKNOWN && make_known(make, of->epoch)) {
        struct make_state state = of->next;

        span_begin(make, thread, ns, &state, -1);
    }
    of->next.state = TIMELINE_UNKNOWN;
}

/* Takes a thread out of the list that it is in. */
static void held_remove(struct make *make, uint32_t thread)
{
    struct make_thread *of = &make->threads[thread];

    if (of->held < 0) {
        return;
    }
    if (of->held_last == TIMELINE_NONE) {
        make->cpus[of->held].held = of->held_next;
    } else {
        make->threads[of->held_last].held_next = of->held_next;
    }
    if (of->held_next != TIMELINE_NONE) {
        make->threads[of->held_next].held_last = of->held_last;
    }
    of->held = -1;
    of->next.state = TIMELINE_UNKNOWN;
}

static void held_add(struct make *make, uint32_t thread, unsigned on)
{
    struct make_thread *of = &make->threads[thread];

    of->held = (int16_t)on;
    of->held_last = TIMELINE_NONE;
    of->held_next = make->cpus[on].held;
    if (of->held_next != TIMELINE_NONE) {
        make->threads[of->held_next].held_last = thread;
    }
    make->cpus[on].held = thread;
}

/* The CPU's thread has become known: states that waited for that begin. */
static void timeline_held_begin(struct make *make, unsigned on, int64_t ns)
{
    while (make->cpus[on].held != TIMELINE_NONE) {
        uint32_t thread = make->cpus[on].held;
        struct make_state state = make->threads[thread].next;
        bool known = make_known(make, make->threads[thread].epoch);

        held_remove(make, thread);
        if (known) {
            span_begin(make, thread, ns, &state, -1);
        }
    }
}

/* For a state dump: the thread is in the state, since when and why is not known. */
static bool is_dumped(const struct kev_item *item)
{
    return (item->flags & KEV_FLAG_DUMP) != 0;
}

static void timeline_thread_runs(struct make *make, uint32_t thread, const struct kev_item *item,
                                 int priority)
{
    unsigned on = (unsigned)item->cpu;
    int64_t ns = item->ns;
    struct make_cpu *cpu = &make->cpus[on];
    struct make_thread *of = &make->threads[thread];
    bool known = cpu->current != TIMELINE_NONE;
    struct make_state state = {.state = STATE_RUNNING,
                               .other = TIMELINE_NONE,
                               .by = TIMELINE_NONE,
                               .priority = (int16_t)priority,
                               .on = (int16_t)on,
                               .dumped = is_dumped(item)};

    held_remove(make, thread);
    if (cpu->current == thread) {
        of->next.state = TIMELINE_UNKNOWN; /* its wait was over before it left the CPU */
        return;
    }
    if (of->cpu >= 0) {
        timeline_cpu_leave(make, (unsigned)of->cpu, ns, true);
    }
    timeline_cpu_leave(make, on, ns, true);
    span_end(make, thread, ns);
    of->next.state = TIMELINE_UNKNOWN;
    if (!cpu->covered) { /* how long it runs is not known */
        return;
    }
    of->cpu = (int16_t)on;
    cpu->current = thread;
    span_begin(make, thread, ns, &state, (int)on);
    if (!known) {
        timeline_held_begin(make, on, ns);
    }
}

/* Sets the object that the thread waits for, by its kernel call and the message that it has
 * sent. */
static void state_describe(struct make *make, uint32_t thread, struct make_state *state)
{
    const struct make_thread *of = &make->threads[thread];
    const struct timeline *timeline = make->timeline;

    if ((state->state == STATE_SEND || state->state == STATE_REPLY) &&
        of->message != TIMELINE_NONE && make_known(make, of->message_epoch)) {
        state->other = of->message;
    }
    if (of->call == TIMELINE_NONE || !make_known(make, of->call_epoch)) {
        return;
    }
    if (state->state == STATE_MUTEX || state->state == STATE_CONDVAR || state->state == STATE_SEM) {
        state->object = timeline->calls[of->call].object;
    }
    if (state->state == STATE_MUTEX && of->call_owner != 0) {
        state->other = make_thread_of(make, timeline->threads[thread].pid, (int32_t)of->call_owner,
                                      timeline->calls[of->call].from);
    }
}

/* Any state but RUNNING. */
static void timeline_thread_changes(struct make *make, uint32_t thread, const struct kev_item *item,
                                    int priority)
{
    struct make_thread *of = &make->threads[thread];
    unsigned on = (unsigned)item->cpu;
    bool elsewhere = of->cpu >= 0 || of->open != TIMELINE_NONE;
    struct make_state state = {.by = TIMELINE_NONE,
                               .other = TIMELINE_NONE,
                               .priority = (int16_t)priority,
                               .on = (int16_t)on,
                               .state = (uint8_t)item->state,
                               .dumped = is_dumped(item)};

    if (state.dumped && of->open != TIMELINE_NONE && make_known(make, of->epoch) &&
        make->timeline->spans[of->open].state == state.state) {
        return; /* known already */
    }
    state_describe(make, thread, &state);
    if (!state.dumped) {
        others_cause(make, on, thread, &state);
    }
    if (of->cpu >= 0) { /* it is still current */
        of->next = state;
        of->epoch = make->epoch;
        return;
    }
    if (of->open != TIMELINE_NONE && !make_known(make, of->epoch)) {
        elsewhere = false;
    }
    span_end(make, thread, item->ns);
    held_remove(make, thread);
    if (make->uncovered > 0) {
        return;
    }
    of->epoch = make->epoch;
    if (make->cpus[on].current == TIMELINE_NONE && !elsewhere) {
        held_add(make, thread, on);
        of->next = state;
    } else {
        span_begin(make, thread, item->ns, &state, -1);
    }
}

void states_event(struct make *make, const struct kev_item *item)
{
    const uint32_t *words;
    unsigned nwords = kev_capture_words(make->timeline->capture, &words);
    /* The wide form has pid, tid, priority, policy. */
    int priority = nwords > 2 && words[2] <= 255 ? (int)words[2] : -1;
    uint32_t thread = make_thread_of(make, item->pid, item->tid, item->ns);

    if (thread == TIMELINE_NONE) {
        if (item->state == STATE_RUNNING) { /* a thread that has no entry */
            timeline_cpu_leave(make, (unsigned)item->cpu, item->ns, true);
        }
        return;
    }
    if (item->state == STATE_RUNNING) {
        timeline_thread_runs(make, thread, item, priority);
    } else if (item->state >= 0 && item->state < PR_TH_CREATE) {
        bool ready = item->state == STATE_READY;

        if ((ready || item->state == STATE_DEAD) && !is_dumped(item)) {
            others_over(make, thread, (unsigned)item->cpu, item->ns, ready);
        }
        timeline_thread_changes(make, thread, item, priority);
    } else if (item->code == PR_TH_DESTROY) {
        others_over(make, thread, (unsigned)item->cpu, item->ns, false);
        held_remove(make, thread);
        make->threads[thread].next.state = TIMELINE_UNKNOWN;
        if (make->threads[thread].cpu < 0) {
            span_end(make, thread, item->ns);
        }
    }
}

void states_told(struct make *make, const struct kev_item *item)
{
    if (item->state == STATE_RUNNING) {
        make->cpus[item->cpu].told = make_thread_of(make, item->pid, item->tid, item->ns);
    }
}

void states_lose_cpu(struct make *make, unsigned cpu, int64_t ns)
{
    timeline_cpu_leave(make, cpu, ns, false);
}

void states_gain_cpu(struct make *make, unsigned on, int64_t ns)
{
    struct make_cpu *cpu = &make->cpus[on];
    struct make_state state = {.state = STATE_RUNNING,
                               .other = TIMELINE_NONE,
                               .by = TIMELINE_NONE,
                               .priority = -1,
                               .on = -1};
    uint32_t thread = cpu->told;

    cpu->told = TIMELINE_NONE;
    if (thread == TIMELINE_NONE || cpu->current != TIMELINE_NONE ||
        make->threads[thread].cpu >= 0 || ns < make->threads[thread].ended) {
        return;
    }
    held_remove(make, thread);
    span_end(make, thread, ns);
    make->threads[thread].cpu = (int16_t)on;
    cpu->current = thread;
    span_begin(make, thread, ns, &state, (int)on);
    if (make->timeline->nspans > 0) {
        make->timeline->spans[make->timeline->nspans - 1].flags &= ~TIMELINE_FROM;
    }
    timeline_held_begin(make, on, ns);
}

/* The capture's end ends everything, though not in truth. */
void states_end(struct make *make)
{
    struct timeline *timeline = make->timeline;

    for (uint32_t i = 0; i < timeline->nthreads && !make->failed; i++) {
        struct make_thread *of = &make->threads[i];
        int64_t end =
            timeline->threads[i].to < timeline->to ? timeline->threads[i].to : timeline->to;

        if (of->open != TIMELINE_NONE) {
            uint32_t open = of->open;

            span_end(make, i, timeline->to);
            timeline->spans[open].flags &= ~TIMELINE_TO;
        }
        gap_fill(make, i, end);
    }
}
