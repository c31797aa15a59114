/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The judge of priority inversions: a thread waited longer than a limit for one of lower priority.
 * The events come from the flow. See inversion.h.
 */
#include <stdlib.h>
#include <string.h>

#include "host/flow/inversion.h"
#include "host/kymo.h"

struct inversion_thread {   /* by serial */
    int64_t since;          /* it is in `wait` since then; INVERSION_NEVER */
    int64_t ready, held;    /* the newest time when it could have run and did not; had a CPU */
    struct flow_state wait; /* for a mutex, a semaphore or a reply */
    int16_t woke;           /* priority at its newest wake-up; -1 */
    int16_t priority;       /* as its newest state has it; -1: that is not known, by a loss */
    uint32_t losses;        /* that had come when this was last looked at: inversion_of() */
    bool over;              /* the wait has ended; nothing says yet by whom */
    /* While it was READY, a long run of the thread that had the CPU which it got next. */
    int64_t stretch_from, stretch_to;
    uint32_t ran;
    int16_t ran_priority;
};

struct inversion_run { /* the newest run on a CPU that has ended, or since when nobody knows */
    int64_t from, to;
    uint32_t serial; /* 0: none */
    int16_t priority;
};

enum { INVERSION_NEVER = -1 };

struct inversions {
    const struct inversion_ops *ops;
    void *arg;
    int64_t most; /* ns */
    struct inversion_thread *waiters;
    struct flow_thread **threads; /* by serial; NULL: gone */
    uint32_t nwaiters;
    struct inversion_run ran[FLOW_CPUS];
    uint32_t losses; /* that came so far */
    struct inversion_doubts doubts;
};

bool inversion_counts(int state)
{
    return state == STATE_MUTEX || state == STATE_SEM || state == STATE_REPLY ||
           state == STATE_SEND;
}

const char *inversion_for(int state)
{
    return state == STATE_MUTEX ? "for a mutex"
           : state == STATE_SEM ? "for a semaphore"
                                : "for a reply";
}

/* After a loss nobody knows a thread's priority until its next state. */
static struct inversion_thread *inversion_of(const struct inversions *w, uint32_t serial)
{
    struct inversion_thread *waiter = &w->waiters[serial];

    if (waiter->losses != w->losses) {
        waiter->woke = waiter->priority = -1;
        waiter->ready = INVERSION_NEVER;
        waiter->stretch_from = waiter->stretch_to = INVERSION_NEVER;
        waiter->losses = w->losses;
    }
    return waiter;
}

static void inversion_found(struct inversions *w, const struct flow_thread *thread,
                            const struct flow_thread *by, int priority, int own, int64_t to,
                            bool ended)
{
    const struct inversion_thread *waiter = inversion_of(w, thread->serial);
    const struct inversion_thread *holder = inversion_of(w, by->serial);
    struct inversion found = {.thread = thread,
                              .by = by,
                              .own = own,
                              .priority = priority,
                              .state = waiter->wait.state,
                              .object = waiter->wait.object,
                              .from = waiter->since,
                              .to = to,
                              .ended = ended,
                              .middle_priority = -1};

    if (holder->stretch_to > waiter->since && holder->ran != 0) {
        int64_t from = holder->stretch_from > waiter->since ? holder->stretch_from : waiter->since;

        found.middle = w->threads[holder->ran];
        found.middle_priority = holder->ran_priority;
        found.middle_ns = holder->stretch_to - from;
    }
    w->ops->found(w->arg, &found);
}

static void inversion_checked(struct inversions *w)
{
    if (w->ops->checked != NULL) {
        w->ops->checked(w->arg);
    }
}

/* The thread's wait is over, by the cause of its new state. */
static void inversion_ended(struct inversions *w, const struct flow_thread *thread,
                            const struct flow_state *ready)
{
    const struct inversion_thread *waiter = inversion_of(w, thread->serial);
    bool mutex = waiter->wait.state == STATE_MUTEX;
    const struct flow_thread *by = NULL;
    const struct inversion_thread *other;
    int priority;

    if (waiter->since == INVERSION_NEVER || ready->since - waiter->since <= w->most ||
        ready->cause == FLOW_CAUSE_INTERRUPT) {
        return;
    }
    by = ready->cause == FLOW_CAUSE_THREAD ? w->threads[ready->by] : NULL;
    if (by == NULL) {
        w->doubts.unknown++;
        return;
    }
    other = inversion_of(w, by->serial);
    priority = mutex && other->woke >= 0 ? other->woke : other->priority;
    w->doubts.no_priorities |= by->priority < 0 || ready->priority < 0;
    if (priority >= 0 && priority < ready->priority && (mutex || other->held > waiter->since)) {
        inversion_found(w, thread, by, priority, ready->priority, ready->since, true);
    }
}

/* A long wait for a mutex whose end is not seen, or that ends with the thread. */
static void inversion_unended(struct inversions *w, const struct flow_thread *thread, int64_t to)
{
    const struct inversion_thread *waiter = inversion_of(w, thread->serial);
    const struct flow_thread *owner =
        waiter->wait.state == STATE_MUTEX ? w->threads[waiter->wait.owner] : NULL;
    const struct inversion_thread *other;
    int priority;

    if (owner != NULL) {
        inversion_checked(w);
    }
    if (waiter->wait.state != STATE_MUTEX || waiter->since == INVERSION_NEVER ||
        to - waiter->since <= w->most) {
        return;
    }
    if (owner == NULL) {
        w->doubts.unknown++;
        return;
    }
    other = inversion_of(w, owner->serial);
    priority = other->woke >= 0 ? other->woke : other->priority;
    w->doubts.no_priorities |= owner->priority < 0 || waiter->wait.priority < 0;
    if (priority >= 0 && priority < waiter->wait.priority) {
        inversion_found(w, thread, owner, priority, waiter->wait.priority, to, false);
    }
}

/* The thread runs at last: keeps who ran there before, unless a much longer stretch is kept. */
static void inversion_stretch(const struct inversions *w, struct inversion_thread *waiter,
                              const struct flow_state *state)
{
    const struct inversion_run *run = state->cpu < 0 ? NULL : &w->ran[state->cpu];
    int64_t from;

    if (run == NULL || run->serial == 0 || run->to != state->since) {
        return; /* a loss lies between */
    }
    from = run->from > waiter->ready ? run->from : waiter->ready;
    if (run->to - from < (waiter->stretch_to - waiter->stretch_from) / 4) {
        return;
    }
    waiter->stretch_from = from;
    waiter->stretch_to = run->to;
    waiter->ran = run->serial;
    waiter->ran_priority = run->priority;
}

void inversion_begin(struct inversions *w, const struct flow_thread *thread,
                     const struct flow_state *state)
{
    struct inversion_thread *waiter = inversion_of(w, thread->serial);

    waiter->priority = state->priority;
    if (state->state == STATE_READY) {
        waiter->ready = state->since;
        if (state->cause != FLOW_CAUSE_PREEMPTED && state->begun) {
            inversion_checked(w);
            if (waiter->over) {
                inversion_ended(w, thread, state);
            }
            waiter->woke = state->priority;
        }
    } else if (state->state == STATE_RUNNING && waiter->ready != INVERSION_NEVER) {
        inversion_stretch(w, waiter, state);
        waiter->held = state->since > waiter->ready ? state->since : waiter->held;
        waiter->ready = INVERSION_NEVER;
    } else if (state->state == STATE_DEAD && waiter->over) {
        inversion_unended(w, thread, state->since);
    } else if (inversion_counts(state->state)) {
        bool goes_on = state->state == STATE_REPLY && waiter->over && /* it has been received */
                       waiter->wait.state == STATE_SEND;

        waiter->since = !state->begun ? INVERSION_NEVER : goes_on ? waiter->since : state->since;
        waiter->wait = *state;
    }
    waiter->over = false;
}

void inversion_span(struct inversions *w, const struct flow_thread *thread,
                    const struct flow_state *state, int64_t to, bool ended)
{
    struct inversion_thread *waiter = inversion_of(w, thread->serial);

    if (state->state == STATE_RUNNING && state->cpu >= 0) {
        w->ran[state->cpu] =
            (struct inversion_run){state->since, to, thread->serial, state->priority};
    }
    if (!inversion_counts(state->state) || waiter->since == INVERSION_NEVER) {
        return;
    }
    waiter->over = ended;
    if (!ended) {
        inversion_unended(w, thread, to);
        waiter->since = INVERSION_NEVER;
    }
}

/* ---- threads ------------------------------------------------------------------------- */

struct inversions *inversion_new(const struct inversion_ops *ops, void *arg, int64_t most)
{
    struct inversions *w = kymo_memory(calloc(1, sizeof(*w)));

    w->ops = ops;
    w->arg = arg;
    w->most = most;
    return w;
}

void inversion_free(struct inversions *w)
{
    if (w != NULL) {
        free(w->waiters);
        free(w->threads);
        free(w);
    }
}

void inversion_thread(struct inversions *w, struct flow_thread *thread)
{
    if (thread->serial >= w->nwaiters) {
        uint32_t n = 2 * thread->serial + 64;

        w->waiters = kymo_memory(realloc(w->waiters, n * sizeof(*w->waiters)));
        w->threads = kymo_memory(realloc(w->threads, n * sizeof(struct flow_thread *)));
        memset(w->threads + w->nwaiters, 0, (n - w->nwaiters) * sizeof(struct flow_thread *));
        w->nwaiters = n;
    }
    w->threads[thread->serial] = thread;
    w->waiters[thread->serial] = (struct inversion_thread){.since = INVERSION_NEVER,
                                                           .ready = INVERSION_NEVER,
                                                           .held = INVERSION_NEVER,
                                                           .stretch_from = INVERSION_NEVER,
                                                           .stretch_to = INVERSION_NEVER,
                                                           .woke = -1,
                                                           .priority = -1,
                                                           .losses = w->losses};
}

void inversion_gone(struct inversions *w, const struct flow_thread *thread, int64_t ns)
{
    if (inversion_of(w, thread->serial)->over) { /* it died while it waited */
        inversion_unended(w, thread, ns);
    }
    w->threads[thread->serial] = NULL;
}

void inversion_lose(struct inversions *w)
{
    w->losses++;
}

const struct inversion_doubts *inversion_doubts(const struct inversions *w)
{
    return &w->doubts;
}
