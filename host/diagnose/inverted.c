/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The finding on priority inversions, from the judge that `kymo assert --inversion` has, too. An
 * inversion is unbounded if a thread of a priority between ran while the one that was waited for
 * was READY: it may last as long as that thread likes. See inversion.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "abi/sys/kercalls.h"
#include "host/flow/inversion.h"
#include "host/diagnose/own.h"
#include "host/kymo.h"
#include "host/when.h"

enum {
    INVERTED_MS = 1,          /* unbounded */
    INVERTED_BOUNDED_MS = 50, /* the thread of lower priority had the CPU, or waited itself */
};

struct inverted {
    struct diagnosis *d;
    struct inversions *judge;
    uint64_t *semaphores; /* by serial: of which the thread's newest SyncSemWait() was */
    uint32_t nsemaphores;
};

/* Is what a thread waited for the other's to give? Who kills a thread, or posts a semaphore that it
 * never waits for, as a producer does, is no holder. */
static bool inverted_holds(const struct inverted *v, const struct inversion *found)
{
    if (found->state == STATE_REPLY || found->state == STATE_SEND) {
        return found->by->pid == found->thread->server;
    }
    return found->by->pid == found->thread->pid &&
           (found->state == STATE_MUTEX ||
            (found->object != 0 && v->semaphores[found->by->serial] == found->object));
}

static void inverted_found(void *arg, const struct inversion *found)
{
    struct inverted *v = arg;
    struct diagnosis *d = v->d;
    bool unbounded = found->middle != NULL && !found->middle->idle &&
                     found->middle != found->thread && found->middle_priority < found->own &&
                     found->middle_priority > found->priority &&
                     found->middle_ns >= (int64_t)INVERTED_MS * DIAGNOSE_MS;
    char name[96], by[96], middle[96], time[32], part[32];
    struct finding f;
    int n;

    if (!inverted_holds(v, found) || d->lossy || (!found->ended && !d->ended)) {
        return; /* an inherited priority shows with the next state, which may be lost */
    }
    if (!unbounded && (found->state != STATE_MUTEX ||
                       found->to - found->from < (int64_t)INVERTED_BOUNDED_MS * DIAGNOSE_MS)) {
        return;
    }
    f = diagnosis_finding(d, FINDING_INVERSION, found->thread, found->from, found->to);
    f.harm = found->to - found->from;
    n = snprintf(f.text, sizeof(f.text),
                 "%s inversion: %s at priority %d waited %s %s, for %s at %d",
                 unbounded ? "unbounded" : "bounded", diagnosis_name(d, found->thread, name),
                 found->own, kymo_length_text(f.harm, time), inversion_for(found->state),
                 diagnosis_name(d, found->by, by), found->priority);
    if (unbounded) {
        snprintf(f.text + n, sizeof(f.text) - (size_t)n, ", while %s at %d ran for %s",
                 diagnosis_name(d, found->middle, middle), found->middle_priority,
                 kymo_length_text(found->middle_ns, part));
    }
    diagnosis_add(d, &f);
}

static void *inverted_start(struct diagnosis *d)
{
    static const struct inversion_ops ops = {.found = inverted_found};
    struct inverted *v = kymo_memory(calloc(1, sizeof(*v)));

    v->d = d;
    v->judge = inversion_new(&ops, v, (int64_t)INVERTED_MS * DIAGNOSE_MS);
    return v;
}

static void inverted_thread(struct diagnosis *d, void *self, struct flow_thread *thread)
{
    struct inverted *v = self;

    (void)d;
    v->semaphores =
        diagnosis_grow(v->semaphores, &v->nsemaphores, thread->serial, sizeof(*v->semaphores));
    inversion_thread(v->judge, thread);
}

static void inverted_gone(struct diagnosis *d, void *self, const struct flow_thread *thread,
                          int64_t ns)
{
    struct inverted *v = self;

    (void)d;
    inversion_gone(v->judge, thread, ns);
}

static void inverted_begin(struct diagnosis *d, void *self, struct flow_thread *thread,
                           struct flow_state *state)
{
    struct inverted *v = self;

    (void)d;
    inversion_begin(v->judge, thread, state);
}

static void inverted_span(struct diagnosis *d, void *self, const struct flow_thread *thread,
                          const struct flow_state *state, int64_t to, bool ended)
{
    struct inverted *v = self;

    (void)d;
    inversion_span(v->judge, thread, state, to, ended);
}

static void inverted_step(struct diagnosis *d, void *self, const struct flow_step *step)
{
    struct inverted *v = self;

    (void)d;
    if (step->role == FLOW_BEGIN && step->thread != NULL && step->slice->kind == FLOW_CALL &&
        step->slice->what == __KER_SYNC_SEM_WAIT) {
        v->semaphores[step->thread->serial] = step->slice->object;
    }
}

static void inverted_lose(struct diagnosis *d, void *self)
{
    struct inverted *v = self;

    (void)d;
    inversion_lose(v->judge);
}

static void inverted_end(struct diagnosis *d, void *self)
{
    struct inverted *v = self;

    if (inversion_doubts(v->judge)->no_priorities) {
        diagnosis_untold(d, FINDING_INVERSION, "priorities were not recorded",
                         "record the wide form: tracelogger -w");
    }
}

static void inverted_stop(void *self)
{
    struct inverted *v = self;

    inversion_free(v->judge);
    free(v->semaphores);
    free(v);
}

const struct family family_inversion = {.start = inverted_start,
                                        .thread = inverted_thread,
                                        .gone = inverted_gone,
                                        .begin = inverted_begin,
                                        .span = inverted_span,
                                        .step = inverted_step,
                                        .lose = inverted_lose,
                                        .end = inverted_end,
                                        .stop = inverted_stop};
