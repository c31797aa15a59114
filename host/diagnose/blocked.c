/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Findings on threads that wait for each other: circles in the graph of who waits for whom, mutexes
 * that are locked in both orders. See diagnose.h.
 *
 * A thread waits for the owner of its mutex, for the only thread of the process that is to receive
 * its message or to reply to it, or for the thread that it joins. Anything else, and what a loss, a
 * filter or a late beginning may have hidden, is no edge.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/sys/kercalls.h"
#include "host/diagnose/own.h"
#include "host/kymo.h"
#include "host/life.h"
#include "host/when.h"

enum {
    BLOCKED_CYCLES = 32,    /* circles that are open at a time */
    BLOCKED_MEMBERS = 16,   /* of a circle */
    BLOCKED_ORDERS = 4096,  /* pairs of mutexes */
    BLOCKED_WAITING = 4096, /* threads that wait for a mutex at a time */
    BLOCKED_CYCLE_MS = 1,   /* a circle that lasts at the end, or that a timeout ended */
};

struct blocked_thread { /* by serial */
    bool waits, over;   /* over: the wait has ended, and nothing says yet by whom */
    struct flow_state wait;
    uint32_t owner;   /* MUTEX: as of now; 0: not known */
    uint32_t server;  /* REPLY: who has received it; 0: not known */
    int32_t join;     /* tid that it joins; 0: not known */
    uint32_t losses;  /* that had come when this was last looked at: blocked_of() */
    uint32_t circle;  /* index of the circle that it is in, plus 1; 0 */
    uint32_t waiting; /* place in blocked.waiting, plus 1; 0 */
};

struct blocked_cycle {
    bool used;
    int64_t since;
    unsigned count;
    uint32_t members[BLOCKED_MEMBERS], targets[BLOCKED_MEMBERS];
    bool messages; /* an edge is a message's */
    struct finding f;
};

struct blocked_order { /* thread `tid` held mutex `first` and waited for `then` */
    int32_t pid, tid;
    uint64_t first, then;
};

struct blocked {
    union {
        struct family_each each;
        struct {
            struct blocked_thread *threads; /* by serial */
            uint32_t nthreads;
        };
    };
    struct blocked_cycle cycles[BLOCKED_CYCLES];
    struct blocked_order orders[BLOCKED_ORDERS];
    unsigned norders;
    uint32_t waiting[BLOCKED_WAITING]; /* serials of threads that wait for a mutex */
    uint32_t nwaiting;
    bool crowded; /* there was no room for one of them */
};

/* A thread's record. The call that it waits in may be one of which a loss has left nothing. */
static struct blocked_thread *blocked_of(const struct diagnosis *d, const struct blocked *b,
                                         uint32_t serial)
{
    struct blocked_thread *t = &b->threads[serial];

    if (t->losses != d->losses) {
        t->server = 0;
        t->join = 0;
        t->losses = d->losses;
    }
    return t;
}

/* Keeps which threads wait for a mutex: only these are looked through. */
static void blocked_waiting_add(struct blocked *b, uint32_t serial)
{
    if (b->nwaiting == BLOCKED_WAITING) {
        b->crowded = true;
        return;
    }
    b->waiting[b->nwaiting++] = serial;
    b->threads[serial].waiting = b->nwaiting;
}

static void blocked_waiting_remove(struct blocked *b, uint32_t serial)
{
    uint32_t place = b->threads[serial].waiting, last;

    if (place != 0) {
        last = b->waiting[--b->nwaiting];
        b->waiting[place - 1] = last;
        b->threads[last].waiting = place;
        b->threads[serial].waiting = 0;
    }
}

/* ---- who waits for whom ---------------------------------------------------------------- */

/* The only thread of a process; 0: there are several, or may be some that no event has named. */
static uint32_t blocked_only(const struct diagnosis *d, int32_t pid)
{
    const struct flow_thread *only =
        d->lossy || d->filtered || d->late ? NULL : flow_only(d->flow, pid);

    return only == NULL ? 0 : only->serial;
}

static uint32_t blocked_joined(const struct diagnosis *d, int32_t pid, int32_t tid)
{
    const struct flow_thread *joined = tid > 0 ? flow_find(d->flow, pid, tid) : NULL;

    return joined == NULL ? 0 : joined->serial;
}

/* The serial of the thread that one waits for; 0: it isn't known, or doesn't wait. */
static uint32_t blocked_target(const struct diagnosis *d, const struct blocked *b, uint32_t serial)
{
    const struct blocked_thread *t = blocked_of(d, b, serial);
    const struct flow_thread *thread = d->threads[serial];

    if (!t->waits || thread == NULL || b->crowded) {
        return 0;
    }
    switch (t->wait.state) {
    case STATE_MUTEX:
        return d->threads[t->owner] == NULL ? 0 : t->owner;
    case STATE_REPLY:
        /* Any other thread of the process that received it can reply. */
        return t->server == blocked_only(d, thread->server) ? t->server : 0;
    case STATE_SEND:
        return thread->message == 0 ? 0 : blocked_only(d, thread->server);
    case STATE_JOIN:
        return blocked_joined(d, thread->pid, t->join);
    default:
        return 0;
    }
}

/* ---- circles --------------------------------------------------------------------------- */

static int blocked_edge_text(const struct diagnosis *d, const struct blocked *b, uint32_t serial,
                             uint32_t target, char *to, size_t room)
{
    const struct blocked_thread *t = &b->threads[serial];
    char name[96], other[96];

    diagnosis_name(d, d->threads[serial], name);
    diagnosis_name(d, d->threads[target], other);
    if (t->wait.state == STATE_MUTEX) {
        return snprintf(to, room, "%s waits for mutex 0x%" PRIx64 " that %s holds", name,
                        t->wait.object, other);
    }
    return snprintf(to, room, "%s waits for %s %s", name,
                    t->wait.state == STATE_JOIN    ? "the end of"
                    : t->wait.state == STATE_REPLY ? "a reply of"
                                                   : "its message to be received by",
                    other);
}

/* The member of the lowest numbers is the first, wherever the circle was closed. */
static void blocked_cycle_open(struct diagnosis *d, struct blocked *b, const uint32_t *found,
                               unsigned count)
{
    uint32_t members[BLOCKED_MEMBERS];
    unsigned first = 0;
    struct blocked_cycle *cycle = NULL;
    size_t n = 0;
    unsigned i;

    for (i = 0; i < BLOCKED_CYCLES && cycle == NULL; i++) {
        cycle = b->cycles[i].used ? NULL : &b->cycles[i];
    }
    if (cycle == NULL) {
        return;
    }
    for (unsigned m = 1; m < count; m++) {
        const struct flow_thread *one = d->threads[found[m]], *other = d->threads[found[first]];

        if (one->pid < other->pid || (one->pid == other->pid && one->tid < other->tid)) {
            first = m;
        }
    }
    for (unsigned m = 0; m < count; m++) {
        members[m] = found[(first + m) % count];
    }
    *cycle = (struct blocked_cycle){.used = true, .since = d->now, .count = count};
    cycle->f = diagnosis_finding(d, FINDING_DEADLOCK, d->threads[members[0]], d->now, d->now);
    for (unsigned m = 0; m < count; m++) {
        struct blocked_thread *t = &b->threads[members[m]];

        cycle->members[m] = members[m];
        cycle->targets[m] = members[(m + 1) % count];
        cycle->messages |= t->wait.state == STATE_REPLY || t->wait.state == STATE_SEND;
        t->circle = i;
        if (n + 260 < sizeof(cycle->f.text)) {
            n += (size_t)snprintf(cycle->f.text + n, sizeof(cycle->f.text) - n, "%s",
                                  m == 0 ? "" : ", ");
            n += (size_t)blocked_edge_text(d, b, members[m], cycle->targets[m], cycle->f.text + n,
                                           sizeof(cycle->f.text) - n);
        }
    }
}

/* A member no longer waits. really: what ended its wait was not what it waited for; of a circle
 * without messages that is sure, since its members can't end it. */
static void blocked_cycle_close(struct diagnosis *d, struct blocked *b, uint32_t serial, int64_t to,
                                bool really)
{
    struct blocked_thread *t = &b->threads[serial];
    struct blocked_cycle *cycle;
    char time[32];
    size_t n;

    if (t->circle == 0) {
        return;
    }
    cycle = &b->cycles[t->circle - 1];
    for (unsigned i = 0; i < cycle->count; i++) {
        b->threads[cycle->members[i]].circle = 0;
    }
    cycle->used = false;
    if ((!really && cycle->messages) ||
        to - cycle->since < (int64_t)BLOCKED_CYCLE_MS * DIAGNOSE_MS) {
        return;
    }
    cycle->f.to = to;
    cycle->f.harm = to - cycle->since;
    life_why(cycle->f.pid, cycle->f.tid, cycle->since, to, cycle->f.why, sizeof(cycle->f.why));
    n = strlen(cycle->f.text);
    snprintf(cycle->f.text + n, sizeof(cycle->f.text) - n, ", for %s%s",
             kymo_length_text(cycle->f.harm, time),
             d->ended ? ", until the capture's end" : ", until a timeout or a death ended it");
    diagnosis_add(d, &cycle->f);
}

/* Is the thread in a circle, now that what it waits for is known? */
static bool blocked_cycle_find(struct diagnosis *d, struct blocked *b, uint32_t serial)
{
    uint32_t members[BLOCKED_MEMBERS], at = serial;
    unsigned n = 0;

    while (n < BLOCKED_MEMBERS && b->threads[at].circle == 0) {
        members[n++] = at;
        at = blocked_target(d, b, at);
        if (at == 0 || d->threads[at] == NULL) {
            return false;
        }
        if (at == serial) {
            blocked_cycle_open(d, b, members, n);
            return true;
        }
    }
    return false;
}

/* ---- the order of mutexes -------------------------------------------------------------- */

static void blocked_order_note(struct diagnosis *d, struct blocked *b,
                               const struct flow_thread *holder, uint64_t first, uint64_t then)
{
    struct blocked_order order = {holder->pid, holder->tid, first, then};
    const struct blocked_order *other = NULL;
    char name[96];

    if (first == 0 || then == 0 || first == then) {
        return;
    }
    for (unsigned i = 0; i < b->norders; i++) {
        const struct blocked_order *had = &b->orders[i];

        if (memcmp(had, &order, sizeof(order)) == 0) {
            return;
        }
        if (had->pid == order.pid && had->first == then && had->then == first &&
            had->tid != order.tid) {
            other = had;
        }
    }
    if (b->norders < BLOCKED_ORDERS) {
        b->orders[b->norders++] = order;
    }
    if (other == NULL) {
        return;
    }
    struct finding f = diagnosis_finding(d, FINDING_LOCK_ORDER, holder, d->now, d->now);
    f.harm = 1;
    snprintf(f.text, sizeof(f.text),
             "%s held mutex 0x%" PRIx64 " and waited for 0x%" PRIx64 ", thread %" PRId32
             " held the second and waited for the first: at once they can deadlock",
             diagnosis_name(d, holder, name), first, then, other->tid);
    snprintf(f.why, sizeof(f.why), "kymo why --thread %" PRId32 ":%" PRId32 " --at %" PRId64 "ns",
             f.pid, f.tid, d->now);
    diagnosis_add(d, &f);
}

/* The thread has begun to wait for a mutex. */
static void blocked_orders_find(struct diagnosis *d, struct blocked *b,
                                const struct flow_thread *thread)
{
    const struct blocked_thread *t = &b->threads[thread->serial];
    const struct flow_thread *owner = t->owner == 0 ? NULL : d->threads[t->owner];

    if (owner != NULL && b->threads[t->owner].waits &&
        b->threads[t->owner].wait.state == STATE_MUTEX && owner->pid == thread->pid) {
        blocked_order_note(d, b, owner, t->wait.object, b->threads[t->owner].wait.object);
    }
    for (uint32_t i = 0; i < b->nwaiting; i++) {
        const struct blocked_thread *other = &b->threads[b->waiting[i]];

        if (other->owner == thread->serial && d->threads[b->waiting[i]]->pid == thread->pid) {
            blocked_order_note(d, b, thread, other->wait.object, t->wait.object);
        }
    }
}

/* A mutex has another owner, or none: only a handover by its owner's unlocking tells which. */
static void blocked_handed(struct diagnosis *d, struct blocked *b, const struct flow_thread *thread,
                           const struct flow_state *ready)
{
    const struct blocked_thread *t = &b->threads[thread->serial];
    const struct flow_thread *by = ready->cause == FLOW_CAUSE_THREAD ? d->threads[ready->by] : NULL;
    bool handed = false;

    if (by != NULL && by->serial == t->owner && by->slices.depth > 0) {
        const struct flow_open *call = &by->slices.open[by->slices.depth - 1];

        handed = call->kind == FLOW_CALL &&
                 ((call->what == __KER_SYNC_MUTEX_UNLOCK && call->object == t->wait.object) ||
                  (call->what == __KER_SYNC_CONDVAR_WAIT && call->mutex == t->wait.object));
    }
    for (uint32_t i = 0; i < b->nwaiting; i++) {
        struct blocked_thread *other = &b->threads[b->waiting[i]];

        if (other->wait.object == t->wait.object && d->threads[b->waiting[i]]->pid == thread->pid) {
            other->owner = handed ? thread->serial : 0;
        }
    }
}

/* ---- states ---------------------------------------------------------------------------- */

static bool blocked_counts(int state)
{
    return state == STATE_MUTEX || state == STATE_REPLY || state == STATE_SEND ||
           state == STATE_JOIN;
}

static void blocked_ended(struct diagnosis *d, struct blocked *b, const struct flow_thread *thread,
                          const struct flow_state *next)
{
    struct blocked_thread *t = &b->threads[thread->serial];
    bool by_target =
        next->cause == FLOW_CAUSE_UNKNOWN ||
        (next->cause == FLOW_CAUSE_THREAD &&
         (t->wait.state == STATE_REPLY || t->wait.state == STATE_SEND || next->by == t->owner));

    t->over = false;
    blocked_cycle_close(d, b, thread->serial, next->since, next->state == STATE_DEAD || !by_target);
    if (t->wait.state == STATE_MUTEX) {
        blocked_handed(d, b, thread, next);
    }
}

static void blocked_begin(struct diagnosis *d, void *self, struct flow_thread *thread,
                          struct flow_state *state)
{
    struct blocked *b = self;
    struct blocked_thread *t = &b->threads[thread->serial];

    if (t->over) {
        blocked_ended(d, b, thread, state);
    }
    blocked_waiting_remove(b, thread->serial);
    t->waits = blocked_counts(state->state);
    if (!t->waits) {
        return;
    }
    if (state->state == STATE_MUTEX) {
        blocked_waiting_add(b, thread->serial);
    }
    t->wait = *state;
    t->owner = state->owner;
    if (state->state == STATE_MUTEX && state->owner == thread->serial) {
        t->owner = 0;
    }
    if (!blocked_cycle_find(d, b, thread->serial) && state->state == STATE_MUTEX && !b->crowded) {
        blocked_orders_find(d, b, thread);
    }
}

static void blocked_span(struct diagnosis *d, void *self, const struct flow_thread *thread,
                         const struct flow_state *state, int64_t to, bool ended)
{
    struct blocked *b = self;
    struct blocked_thread *t = &b->threads[thread->serial];

    if (!t->waits || !blocked_counts(state->state)) {
        return;
    }
    if (!ended) { /* at the capture's end it lasts, after a loss of messages nobody knows */
        const struct blocked_cycle *cycle = t->circle ? &b->cycles[t->circle - 1] : NULL;

        blocked_cycle_close(d, b, thread->serial, to,
                            d->ended || (cycle != NULL && !cycle->messages));
    }
    blocked_waiting_remove(b, thread->serial);
    t->waits = false;
    t->over = ended;
}

static void blocked_gone(struct diagnosis *d, void *self, const struct flow_thread *thread,
                         int64_t ns)
{
    struct blocked *b = self;

    blocked_cycle_close(d, b, thread->serial, ns, true);
    blocked_waiting_remove(b, thread->serial);
    b->threads[thread->serial] = (struct blocked_thread){.waits = false};
}

/* ---- steps ----------------------------------------------------------------------------- */

static void blocked_step(struct diagnosis *d, void *self, const struct flow_step *step)
{
    struct blocked *b = self;
    struct blocked_thread *t;
    const uint32_t *words;

    if (step->role == FLOW_BEGIN && step->thread != NULL && step->slice->kind == FLOW_CALL &&
        step->slice->what == __KER_THREAD_JOIN) {
        blocked_of(d, b, step->thread->serial)->join =
            kev_capture_words(d->capture, &words) > 0 ? (int32_t)words[0] : 0;
    }
    if (step->message == FLOW_NONE || step->message == FLOW_REPLIED || step->client == NULL) {
        return;
    }
    t = blocked_of(d, b, step->client->serial);
    t->server = step->message == FLOW_SENT || step->party == NULL ? 0 : step->party->serial;
    if (t->server != 0) {
        blocked_cycle_find(d, b, step->client->serial);
    }
}

/* The mutexes of another process that gets this pid may have the same addresses. */
static void blocked_process_ended(struct diagnosis *d, void *self, int32_t pid)
{
    struct blocked *b = self;
    unsigned n = 0;

    (void)d;
    for (unsigned i = 0; i < b->norders; i++) {
        if (pid >= 0 && b->orders[i].pid != pid) {
            b->orders[n++] = b->orders[i];
        }
    }
    b->norders = n;
}

static void blocked_end(struct diagnosis *d, void *self)
{
    const struct blocked *b = self;

    for (unsigned i = 0; b->crowded && i < 2; i++) {
        diagnosis_untold(d, i == 0 ? FINDING_DEADLOCK : FINDING_LOCK_ORDER,
                         "more than 4096 threads waited for mutexes at a time",
                         "kymo cut --from --to takes a part with fewer");
    }
}

const struct family family_blocked = {.bytes = sizeof(struct blocked),
                                      .each = sizeof(struct blocked_thread),
                                      .begin = blocked_begin,
                                      .span = blocked_span,
                                      .gone = blocked_gone,
                                      .step = blocked_step,
                                      .ended = blocked_process_ended,
                                      .end = blocked_end};
