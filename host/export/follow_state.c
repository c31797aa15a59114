/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads, CPUs and what is covered, of a capture that is read once (follow.h).
 */
#include <stdlib.h>

#include "abi/sys/states.h"
#include "host/export/follow_own.h"
#include "host/kymo.h"
#include "host/pr_th.h"
#include "host/timeline/timeline.h"

#define IDLE_PID 1

/* ---- threads ----------------------------------------------------------------------- */

static struct follow_thread **thread_bucket(struct follow *follow, int32_t pid, int32_t tid)
{
    uint64_t key = (uint64_t)(uint32_t)pid << 32 | (uint32_t)tid;

    return &follow->threads[(key * 0x9e3779b97f4a7c15ull) >> 40 & (FOLLOW_BUCKETS - 1)];
}

/* NULL: it is not known whose the event is, or there is no memory. */
struct follow_thread *follow_thread_of(struct follow *follow, int32_t pid, int32_t tid)
{
    struct follow_thread **at = thread_bucket(follow, pid, tid), *thread;

    if (pid == KEV_NOBODY || tid == KEV_NOBODY) {
        return NULL;
    }
    for (thread = *at; thread != NULL; thread = thread->next) {
        if (thread->pid == pid && thread->tid == tid) {
            return thread;
        }
    }
    thread = calloc(1, sizeof(*thread));
    if (thread == NULL) {
        follow->failed = true;
        return NULL;
    }
    *thread = (struct follow_thread){.next = *at,
                                     .serial = ++follow->serial,
                                     .pid = pid,
                                     .tid = tid,
                                     .idle = pid == IDLE_PID && tid >= 1 &&
                                             tid <= (int64_t)follow->export->facts->cpus,
                                     .state = -1,
                                     .next_state = -1,
                                     .priority = -1,
                                     .cpu = -1,
                                     .held = -1};
    *at = thread;
    follow->unknown++;
    return thread;
}

/* A thread's state, -1: not known; the one before it is given to the format. */
static void state_set(struct follow *follow, struct follow_thread *thread, int state, int64_t ns)
{
    if (thread->state >= 0 && ns > thread->since && follow->ops->span != NULL) {
        follow->ops->span(follow->export, thread, thread->state, thread->cpu, thread->since, ns);
    }
    follow->ready += (state == STATE_READY) - (thread->state == STATE_READY);
    follow->unknown += (state < 0) - (thread->state < 0);
    thread->state = (int16_t)state;
    thread->since = ns;
}

/* The state of a thread that doesn't run is no longer known. */
static void thread_lose(struct follow *follow, struct follow_thread *thread, int64_t ns)
{
    state_set(follow, thread, -1, ns);
    thread->held = -1;
    follow_slices_close(follow, &thread->slices, thread, -1, 0, ns);
    follow_message_forget(follow, thread, ns, false);
}

/* ---- CPUs -------------------------------------------------------------------------- */

static void follow_thread_free(struct follow *follow, struct follow_thread *thread)
{
    struct follow_thread **at = thread_bucket(follow, thread->pid, thread->tid);

    while (*at != thread) {
        at = &(*at)->next;
    }
    *at = thread->next;
    thread->next = follow->corpse;
    follow->corpse = thread;
}

void follow_corpses_bury(struct follow *follow)
{
    while (follow->corpse != NULL) {
        struct follow_thread *thread = follow->corpse;

        follow->corpse = thread->next;
        free(thread->slices.open);
        free(thread);
    }
}

/* Ends a thread's life. */
static void follow_thread_end(struct follow *follow, struct follow_thread *thread, int64_t ns)
{
    thread_lose(follow, thread, ns);
    follow->unknown--;
    follow_thread_free(follow, thread);
}

/* The CPU's thread leaves it. `known`: its state from now on is the one last recorded. */
static void follow_cpu_leave(struct follow *follow, unsigned on, int64_t ns, bool known)
{
    struct follow_cpu *cpu = &follow->cpus[on];
    struct follow_thread *thread = cpu->current;
    int state;

    cpu->current = cpu->handed = NULL;
    if (thread == NULL) {
        return;
    }
    state = known && follow->uncovered == 0 && thread->next_state != STATE_DEAD ? thread->next_state
                                                                                : -1;
    state_set(follow, thread, state, ns);
    thread->cpu = thread->next_state = -1;
    if (thread->gone) {
        follow_thread_end(follow, thread, ns);
    } else if (!known || follow->uncovered > 0) {
        thread_lose(follow, thread, ns);
    }
}

/* Calls fn for all threads that don't run; fn may end them. */
static void others_do(struct follow *follow, int64_t ns,
                      void (*fn)(struct follow *, struct follow_thread *, int64_t))
{
    for (unsigned i = 0; i < FOLLOW_BUCKETS; i++) {
        for (struct follow_thread *thread = follow->threads[i], *next; thread; thread = next) {
            next = thread->next;
            if (thread->cpu < 0) {
                fn(follow, thread, ns);
            }
        }
    }
}

static void follow_turn_make(struct follow *follow, const struct follow_turn *turn)
{
    struct follow_cpu *cpu = &follow->cpus[turn->cpu];

    if (cpu->covered == turn->covered) {
        return;
    }
    cpu->covered = turn->covered;
    follow->uncovered += turn->covered ? -1u : 1u;
    if (!turn->covered) {
        follow_cpu_leave(follow, turn->cpu, turn->ns, false);
        follow_slices_close(follow, &cpu->interrupts, NULL, turn->cpu, 0, turn->ns);
        others_do(follow, turn->ns, thread_lose);
    }
}

/* A stretch that begins at this time has begun, one that ends then has not: the event belongs to
 * both. */
void follow_cover_until(struct follow *follow, int64_t ns)
{
    for (; follow->turn < follow->nturns; follow->turn++) {
        const struct follow_turn *turn = &follow->turns[follow->turn];

        if (turn->covered ? turn->ns > ns : turn->ns >= ns) {
            return;
        }
        follow_turn_make(follow, turn);
    }
}

/* Nothing is known from here on: a program has changed the filters. */
void follow_cover_stop(struct follow *follow, int64_t ns)
{
    for (unsigned cpu = 0; cpu < FOLLOW_CPUS; cpu++) {
        follow_turn_make(follow, &(struct follow_turn){ns, (uint8_t)cpu, false});
    }
    follow->nturns = follow->turn;
}

/* ---- states ------------------------------------------------------------------------ */

static void follow_held_begin(struct follow *follow, struct follow_thread *thread, int64_t ns)
{
    if (thread->held >= 0 && follow->cpus[thread->held].current != NULL) {
        state_set(follow, thread, thread->next_state, ns);
        thread->held = thread->next_state = -1;
    }
}

static void follow_thread_runs(struct follow *follow, struct follow_thread *thread, unsigned on,
                               struct follow_step *step)
{
    struct follow_cpu *cpu = &follow->cpus[on];
    struct follow_thread *previous = cpu->current, *client = cpu->handed;

    thread->held = -1;
    if (client != NULL && client->server == thread->pid && client != thread) {
        follow_message_step(step, FOLLOW_RECEIVED, client, thread);
    }
    if (previous == thread) { /* its wait was over before it left the CPU */
        thread->next_state = -1;
        return;
    }
    if (thread->cpu >= 0) {
        follow_cpu_leave(follow, (unsigned)thread->cpu, step->ns, true);
    }
    step->switched = true;
    step->running = thread;
    step->previous = previous;
    follow_cpu_leave(follow, on, step->ns, true);
    step->previous_state = previous == NULL ? -1 : previous->state;
    state_set(follow, thread, -1, step->ns);
    thread->next_state = -1;
    if (!cpu->covered) { /* how long it runs is not known */
        return;
    }
    thread->cpu = (int16_t)on;
    cpu->current = thread;
    state_set(follow, thread, STATE_RUNNING, step->ns);
    if (previous == NULL) {
        others_do(follow, step->ns, follow_held_begin);
    }
}

/* Any state but RUNNING. dumped: it was in this state before, so nothing has woken it. */
static void follow_thread_changes(struct follow *follow, struct follow_thread *thread, int state,
                                  bool dumped, unsigned on, struct follow_step *step)
{
    bool ready = state == STATE_READY;
    bool was_known = thread->state >= 0;

    if (ready && follow->cpus[on].handed != NULL &&
        follow->cpus[on].handed->server == thread->pid && follow->cpus[on].handed != thread) {
        follow_message_step(step, FOLLOW_RECEIVED, follow->cpus[on].handed, thread);
        follow->cpus[on].handed = NULL;
    } else if (ready || state == STATE_DEAD) {
        follow_message_forget(follow, thread, step->ns, false); /* it goes on without a reply */
    }
    if (thread->cpu >= 0) {
        thread->next_state = (int16_t)state;
        return;
    }
    if (ready && thread->state != STATE_READY && !dumped) {
        step->woken = thread;
    }
    thread->held = -1;
    if (follow->uncovered > 0 || state == STATE_DEAD) {
        state_set(follow, thread, -1, step->ns);
    } else if (follow->cpus[on].current == NULL && !was_known) {
        thread->held = (int16_t)on;
        thread->next_state = (int16_t)state;
    } else {
        state_set(follow, thread, state, step->ns);
    }
}

void follow_thread_event(struct follow *follow, const struct kev_item *item,
                         struct follow_step *step, const uint32_t *words, unsigned nwords)
{
    struct follow_thread *thread = step->thread;

    if (item->code == PR_TH_CREATE) {
        thread->described = false; /* a new thread, or the state dump: nothing has changed then */
        return;
    }
    if (item->state >= 0 && nwords > 2 && words[2] <= 255) {
        thread->priority = (int16_t)words[2];
    }
    if (!follow->states) {
        return;
    }
    if (item->state == STATE_RUNNING) {
        follow_thread_runs(follow, thread, (unsigned)item->cpu, step);
    } else if (item->state >= 0 && item->state < PR_TH_CREATE) {
        follow_thread_changes(follow, thread, item->state, (item->flags & KEV_FLAG_DUMP) != 0,
                              (unsigned)item->cpu, step);
    } else if (item->code == PR_TH_DESTROY) {
        thread->gone = thread->cpu >= 0;
        if (!thread->gone) {
            follow_thread_end(follow, thread, step->ns);
        }
    }
}

/* ---- beginning and end ------------------------------------------------------------- */

static int follow_turn_order(const void *a, const void *b)
{
    const struct follow_turn *x = a, *y = b;

    if (x->ns != y->ns) {
        return x->ns < y->ns ? -1 : 1;
    }
    /* A turn that begins comes first, so that CPUs that take over from each other leave no hole. */
    return x->covered != y->covered ? (int)y->covered - (int)x->covered : (int)x->cpu - (int)y->cpu;
}

static bool turns_find(struct follow *follow)
{
    const struct kev_capture *capture = follow->export->capture;
    const struct kev_facts *facts = follow->export->facts;
    unsigned room = 0;

    for (unsigned cpu = 0; cpu < facts->cpus && cpu < FOLLOW_CPUS; cpu++) {
        int64_t from = KEV_EVER, to = KEV_NEVER;
        unsigned n = 0;

        for (;; n++) {
            if (facts->is_kymo ? !kev_capture_covered(capture, cpu, n, &from, &to) : n == 1) {
                break;
            }
            if (follow->nturns + 2 > room) {
                struct follow_turn *more;

                room = 2 * room + 64;
                more = realloc(follow->turns, room * sizeof(*more));
                if (more == NULL) {
                    return false;
                }
                follow->turns = more;
            }
            follow->turns[follow->nturns++] = (struct follow_turn){from, (uint8_t)cpu, true};
            follow->turns[follow->nturns++] = (struct follow_turn){to, (uint8_t)cpu, false};
        }
        /* A capture that does not name its board does not say which CPUs there are. */
        follow->uncovered += n > 0 || facts->board[0] != '\0';
    }
    if (follow->nturns > 0) {
        qsort(follow->turns, follow->nturns, sizeof(*follow->turns), follow_turn_order);
    }
    return true;
}

struct follow *follow_new(struct export *export, const struct follow_ops *ops)
{
    struct follow *follow = calloc(1, sizeof(*follow));
    struct timeline_filters filters;

    if (follow != NULL) {
        follow->export = export;
        follow->ops = ops;
        timeline_filters(export->capture, &filters);
        follow->states = !filters.no_threads && !export->partial;
        follow->slices = !filters.gate && !export->partial;
    }
    if (follow == NULL || !turns_find(follow)) {
        kymo_error("out of memory");
        follow_free(follow);
        return NULL;
    }
    return follow;
}

void follow_free(struct follow *follow)
{
    if (follow == NULL) {
        return;
    }
    follow_corpses_bury(follow);
    for (unsigned i = 0; i < FOLLOW_BUCKETS; i++) {
        for (struct follow_thread *thread = follow->threads[i], *next; thread; thread = next) {
            next = thread->next;
            free(thread->slices.open);
            free(thread);
        }
    }
    for (unsigned cpu = 0; cpu < FOLLOW_CPUS; cpu++) {
        free(follow->cpus[cpu].interrupts.open);
    }
    free(follow->turns);
    free(follow);
}

void follow_end(struct follow *follow)
{
    for (unsigned cpu = 0; cpu < FOLLOW_CPUS; cpu++) {
        follow_cpu_leave(follow, cpu, follow->now, false);
        follow_slices_close(follow, &follow->cpus[cpu].interrupts, NULL, (int)cpu, 0, follow->now);
    }
    others_do(follow, follow->now, thread_lose);
}
