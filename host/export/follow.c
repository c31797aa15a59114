/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads, CPUs, slices and messages of a capture that is read once (follow.h).
 */
#include <stdlib.h>
#include <string.h>

#include "abi/sys/states.h"
#include "host/export/follow.h"
#include "host/kymo.h"
#include "host/pr_th.h"
#include "host/timeline/timeline.h"
#include "trace/slot.h"

#define BUCKETS 4096 /* a power of two */
#define DEPTH_MOST 65536
#define COMM_SEND 0
#define COMM_RECEIVE 2
#define COMM_REPLY 10
#define COMM_ERROR 11
#define INT_ENTRY 1
#define INT_EXIT 2
#define INT_HANDLER_ENTRY 3
#define INT_HANDLER_EXIT 4
#define CALL_TRACE_EVENT 1
#define FUNCTION_ENTER 10
#define FUNCTION_EXIT 11

struct follow_turn { /* a CPU is covered from here on, or no longer */
    int64_t ns;
    uint8_t cpu;
    bool covered;
};

struct follow_cpu {
    bool covered;
    struct follow_thread *current; /* NULL: not known */
    struct follow_thread *handed;  /* client: the server's next thread that is READY has it */
    struct follow_stack interrupts;
};

struct follow {
    struct export *export;
    const struct follow_ops *ops;
    struct follow_thread *threads[BUCKETS], *messages[BUCKETS];
    struct follow_thread *corpse; /* freed with the next event */
    struct follow_turn *turns;
    unsigned nturns, turn;
    unsigned uncovered;  /* CPUs that are not covered now */
    bool states, slices; /* they can be known at all */
    bool failed, begun;
    unsigned ready, unknown; /* threads */
    uint32_t serial;
    uint64_t message;
    int64_t now;
    struct follow_cpu cpus[FOLLOW_CPUS];
};

/* ---- threads ----------------------------------------------------------------------- */

static struct follow_thread **thread_bucket(struct follow *follow, int32_t pid, int32_t tid)
{
    uint64_t key = (uint64_t)(uint32_t)pid << 32 | (uint32_t)tid;

    return &follow->threads[(key * 0x9e3779b97f4a7c15ull) >> 40 & (BUCKETS - 1)];
}

/* NULL: it is not known whose the event is, or there is no memory. */
static struct follow_thread *thread_of(struct follow *follow, int32_t pid, int32_t tid)
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
    if (thread->state >= 0 && ns > thread->since) {
        follow->ops->span(follow->export, thread, thread->state, thread->cpu, thread->since, ns);
    }
    follow->ready += (state == STATE_READY) - (thread->state == STATE_READY);
    follow->unknown += (state < 0) - (thread->state < 0);
    thread->state = (int16_t)state;
    thread->since = ns;
}

/* ---- slices ------------------------------------------------------------------------ */

static void slices_close(struct follow *follow, struct follow_stack *stack,
                         const struct follow_thread *thread, int cpu, uint32_t depth, int64_t ns)
{
    while (stack->depth > depth) {
        stack->depth--;
        follow->ops->close(follow->export, thread, cpu, ns);
    }
    if (depth == 0) {
        stack->over = 0;
    }
}

static enum follow_role slice_begin(struct follow *follow, struct follow_stack *stack,
                                    enum follow_kind kind, uint64_t what)
{
    if (stack->depth == DEPTH_MOST) {
        stack->over += kind == FOLLOW_FUNCTION;
        return FOLLOW_POINT;
    }
    if (stack->depth == stack->room) {
        uint32_t room = stack->room == 0 ? 8 : 2 * stack->room;
        struct follow_open *more = realloc(stack->open, room * sizeof(*more));

        if (more == NULL) {
            follow->failed = true;
            return FOLLOW_POINT;
        }
        stack->open = more;
        stack->room = room;
    }
    stack->open[stack->depth++] = (struct follow_open){kind, what};
    return FOLLOW_BEGIN;
}

/* Slices above the one that ends have no end in the capture. */
static enum follow_role slice_end(struct follow *follow, const struct follow_step *step, int cpu,
                                  enum follow_kind kind, uint64_t what)
{
    struct follow_stack *stack =
        step->thread == NULL ? &follow->cpus[cpu].interrupts : &step->thread->slices;
    uint32_t depth = stack->depth;

    if (kind == FOLLOW_FUNCTION && stack->over > 0) {
        stack->over--;
        return FOLLOW_POINT;
    }
    while (depth > 0 &&
           (stack->open[depth - 1].kind != kind || stack->open[depth - 1].what != what)) {
        depth--;
    }
    if (depth == 0) {
        return FOLLOW_POINT; /* it began before the capture, or in a loss */
    }
    slices_close(follow, stack, step->thread, cpu, depth, step->ns);
    stack->depth--;
    return FOLLOW_END;
}

static void message_forget(struct follow *follow, struct follow_thread *client, int64_t ns,
                           bool replied);

/* What a thread that doesn't run is doing is no longer known. */
static void thread_lose(struct follow *follow, struct follow_thread *thread, int64_t ns)
{
    state_set(follow, thread, -1, ns);
    thread->held = -1;
    slices_close(follow, &thread->slices, thread, -1, 0, ns);
    message_forget(follow, thread, ns, false);
}

/* ---- messages ---------------------------------------------------------------------- */

static void message_forget(struct follow *follow, struct follow_thread *client, int64_t ns,
                           bool replied)
{
    if (client->message == 0) {
        return;
    }
    if (!replied && follow->ops->abandon != NULL) {
        follow->ops->abandon(follow->export, client, ns);
    }
    if (!client->received) {
        struct follow_thread **at = &follow->messages[client->rcvid & (BUCKETS - 1)];

        while (*at != client) {
            at = &(*at)->message_next;
        }
        *at = client->message_next;
    }
    client->message = 0;
    for (unsigned cpu = 0; cpu < FOLLOW_CPUS; cpu++) {
        if (follow->cpus[cpu].handed == client) {
            follow->cpus[cpu].handed = NULL;
        }
    }
}

static void message_step(struct follow_step *step, enum follow_message what,
                         const struct follow_thread *client, struct follow_thread *party)
{
    step->message = what;
    step->message_id = client->message;
    step->party = party;
}

static void message_send(struct follow *follow, struct follow_step *step, const uint32_t *words)
{
    struct follow_thread *client = step->thread, **at;

    message_forget(follow, client, step->ns, false);
    client->message = ++follow->message;
    client->rcvid = words[0];
    client->server = (int32_t)words[1];
    client->received = false;
    at = &follow->messages[client->rcvid & (BUCKETS - 1)];
    client->message_next = *at;
    *at = client;
    message_step(step, FOLLOW_SENT, client, client);
}

/* The event is of the thread that runs: the server's, or the client's, which hands it over. */
static void message_receive(struct follow *follow, struct follow_step *step, int cpu,
                            const uint32_t *words)
{
    struct follow_thread **at = &follow->messages[words[0] & (BUCKETS - 1)], *client;

    while (*at != NULL && ((*at)->rcvid != words[0] || (*at)->server != (int32_t)words[1])) {
        at = &(*at)->message_next;
    }
    client = *at;
    if (client == NULL) {
        return; /* it was sent before the capture, or in a loss */
    }
    *at = client->message_next;
    client->received = true;
    if (step->thread == client) {
        follow->cpus[cpu].handed = client;
    } else if (step->thread != NULL && step->thread->pid == client->server) {
        message_step(step, FOLLOW_RECEIVED, client, step->thread);
    }
}

static void comm_event(struct follow *follow, const struct kev_item *item, struct follow_step *step,
                       const uint32_t *words)
{
    if (item->code != COMM_REPLY && item->code != COMM_ERROR) {
        follow->cpus[item->cpu].handed = NULL;
    }
    if (item->code == COMM_SEND && step->thread != NULL && follow->uncovered == 0) {
        message_send(follow, step, words);
    } else if (item->code == COMM_RECEIVE) {
        message_receive(follow, step, item->cpu, words);
    } else if (item->code == COMM_REPLY || item->code == COMM_ERROR) {
        struct follow_thread *client = thread_of(follow, (int32_t)words[1], (int32_t)words[0]);

        if (client != NULL && client->message != 0) {
            message_step(step, FOLLOW_REPLIED, client, client);
            message_forget(follow, client, step->ns, true);
        }
    }
}

/* ---- CPUs -------------------------------------------------------------------------- */

static void thread_free(struct follow *follow, struct follow_thread *thread)
{
    struct follow_thread **at = thread_bucket(follow, thread->pid, thread->tid);

    while (*at != thread) {
        at = &(*at)->next;
    }
    *at = thread->next;
    thread->next = follow->corpse;
    follow->corpse = thread;
}

static void corpses_bury(struct follow *follow)
{
    while (follow->corpse != NULL) {
        struct follow_thread *thread = follow->corpse;

        follow->corpse = thread->next;
        free(thread->slices.open);
        free(thread);
    }
}

/* Ends a thread's life. */
static void thread_end(struct follow *follow, struct follow_thread *thread, int64_t ns)
{
    thread_lose(follow, thread, ns);
    follow->unknown--;
    thread_free(follow, thread);
}

/* The CPU's thread leaves it. `known`: what it does from now on is what it said last. */
static void cpu_leave(struct follow *follow, unsigned on, int64_t ns, bool known)
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
        thread_end(follow, thread, ns);
    } else if (!known || follow->uncovered > 0) {
        thread_lose(follow, thread, ns);
    }
}

/* Calls fn for all threads that don't run; fn may end them. */
static void others_do(struct follow *follow, int64_t ns,
                      void (*fn)(struct follow *, struct follow_thread *, int64_t))
{
    for (unsigned i = 0; i < BUCKETS; i++) {
        for (struct follow_thread *thread = follow->threads[i], *next; thread; thread = next) {
            next = thread->next;
            if (thread->cpu < 0) {
                fn(follow, thread, ns);
            }
        }
    }
}

static void turn_make(struct follow *follow, const struct follow_turn *turn)
{
    struct follow_cpu *cpu = &follow->cpus[turn->cpu];

    if (cpu->covered == turn->covered) {
        return;
    }
    cpu->covered = turn->covered;
    follow->uncovered += turn->covered ? -1u : 1u;
    if (!turn->covered) {
        cpu_leave(follow, turn->cpu, turn->ns, false);
        slices_close(follow, &cpu->interrupts, NULL, turn->cpu, 0, turn->ns);
        others_do(follow, turn->ns, thread_lose);
    }
}

/* A stretch that begins at this time has begun, one that ends then has not: the event belongs to
 * both. */
static void cover_until(struct follow *follow, int64_t ns)
{
    for (; follow->turn < follow->nturns; follow->turn++) {
        const struct follow_turn *turn = &follow->turns[follow->turn];

        if (turn->covered ? turn->ns > ns : turn->ns >= ns) {
            return;
        }
        turn_make(follow, turn);
    }
}

/* Nothing is known from here on: a program has changed the filters. */
static void cover_stop(struct follow *follow, int64_t ns)
{
    for (unsigned cpu = 0; cpu < FOLLOW_CPUS; cpu++) {
        turn_make(follow, &(struct follow_turn){ns, (uint8_t)cpu, false});
    }
    follow->nturns = follow->turn;
}

/* ---- states ------------------------------------------------------------------------ */

static void held_begin(struct follow *follow, struct follow_thread *thread, int64_t ns)
{
    if (thread->held >= 0 && follow->cpus[thread->held].current != NULL) {
        state_set(follow, thread, thread->next_state, ns);
        thread->held = thread->next_state = -1;
    }
}

static void thread_runs(struct follow *follow, struct follow_thread *thread, unsigned on,
                        struct follow_step *step)
{
    struct follow_cpu *cpu = &follow->cpus[on];
    struct follow_thread *previous = cpu->current, *client = cpu->handed;

    thread->held = -1;
    if (client != NULL && client->server == thread->pid && client != thread) {
        message_step(step, FOLLOW_RECEIVED, client, thread);
    }
    if (previous == thread) { /* its wait was over before it left the CPU */
        thread->next_state = -1;
        return;
    }
    if (thread->cpu >= 0) {
        cpu_leave(follow, (unsigned)thread->cpu, step->ns, true);
    }
    step->switched = true;
    step->running = thread;
    step->previous = previous;
    cpu_leave(follow, on, step->ns, true);
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
        others_do(follow, step->ns, held_begin);
    }
}

/* Any state but RUNNING. */
static void thread_changes(struct follow *follow, struct follow_thread *thread, int state,
                           unsigned on, struct follow_step *step)
{
    bool ready = state == STATE_READY;
    bool was_known = thread->state >= 0;

    if (ready && follow->cpus[on].handed != NULL &&
        follow->cpus[on].handed->server == thread->pid && follow->cpus[on].handed != thread) {
        message_step(step, FOLLOW_RECEIVED, follow->cpus[on].handed, thread);
        follow->cpus[on].handed = NULL;
    } else if (ready || state == STATE_DEAD) {
        message_forget(follow, thread, step->ns, false); /* it goes on without a reply */
    }
    if (thread->cpu >= 0) {
        thread->next_state = (int16_t)state;
        return;
    }
    if (ready && thread->state != STATE_READY) {
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

static void thread_event(struct follow *follow, const struct kev_item *item,
                         struct follow_step *step, const uint32_t *words, unsigned nwords)
{
    struct follow_thread *thread = step->thread;

    if (item->code == PR_TH_CREATE) {
        if (thread->state >= 0 || thread->cpu >= 0) { /* the end of its last life was not seen */
            if (thread->cpu >= 0) {
                cpu_leave(follow, (unsigned)thread->cpu, step->ns, false);
            }
            thread_lose(follow, thread, step->ns);
        }
        return;
    }
    if (item->state >= 0 && nwords > 2 && words[2] <= 255) {
        thread->priority = (int16_t)words[2];
    }
    if (!follow->states) {
        return;
    }
    if (item->state == STATE_RUNNING) {
        thread_runs(follow, thread, (unsigned)item->cpu, step);
    } else if (item->state >= 0 && item->state < PR_TH_CREATE) {
        thread_changes(follow, thread, item->state, (unsigned)item->cpu, step);
    } else if (item->code == PR_TH_DESTROY) {
        thread->gone = thread->cpu >= 0;
        if (!thread->gone) {
            thread_end(follow, thread, step->ns);
        }
    }
}

/* ---- events ------------------------------------------------------------------------ */

static void call_event(struct follow *follow, const struct kev_item *item, struct follow_step *step,
                       const uint32_t *words, unsigned nwords)
{
    unsigned kind = item->number & (TRACE_KERCALL_EXIT | TRACE_KERCALL_INT),
             call = item->number % 128;
    struct follow_stack *stack = step->thread == NULL ? NULL : &step->thread->slices;

    if (kind == TRACE_KERCALL_ENTER && call == CALL_TRACE_EVENT && follow->export->facts->is_kymo &&
        timeline_hides(words, nwords, (item->number & TRACE_EVENT_64) != 0)) {
        cover_stop(follow, step->ns);
    }
    if (stack == NULL || !follow->slices || !follow->cpus[item->cpu].covered) {
        return;
    }
    if (kind == TRACE_KERCALL_EXIT) {
        step->role = slice_end(follow, step, -1, FOLLOW_CALL, call);
    } else if (kind == TRACE_KERCALL_ENTER) {
        if (stack->depth > 0 && stack->open[stack->depth - 1].kind == FOLLOW_CALL) {
            slices_close(follow, stack, step->thread, -1, stack->depth - 1, step->ns);
        }
        step->role = slice_begin(follow, stack, FOLLOW_CALL, call);
    }
}

static void interrupt_event(struct follow *follow, const struct kev_item *item,
                            struct follow_step *step, const uint32_t *words, unsigned nwords)
{
    struct follow_stack *stack = &follow->cpus[item->cpu].interrupts;
    bool handler = item->code == INT_HANDLER_ENTRY || item->code == INT_HANDLER_EXIT;
    bool entry = item->code == INT_ENTRY || item->code == INT_HANDLER_ENTRY;
    unsigned at = item->code == INT_HANDLER_ENTRY ? 1 : 0;
    enum follow_kind kind = handler ? FOLLOW_HANDLER : FOLLOW_INTERRUPT;

    step->thread = NULL;
    if (nwords <= at || !follow->slices || !follow->cpus[item->cpu].covered ||
        (!handler && !entry && item->code != INT_EXIT)) {
        return;
    }
    step->role = entry ? slice_begin(follow, stack, kind, words[at])
                       : slice_end(follow, step, item->cpu, kind, words[at]);
}

static void function_event(struct follow *follow, const struct kev_item *item,
                           struct follow_step *step)
{
    const struct kev_value *function;

    if (step->thread == NULL || !follow->slices || !follow->cpus[item->cpu].covered) {
        return;
    }
    function = kev_capture_value_of(follow->export->capture, "thisfn");
    if (function == NULL) {
        return;
    }
    step->role = item->code == FUNCTION_ENTER
                     ? slice_begin(follow, &step->thread->slices, FOLLOW_FUNCTION, function->number)
                     : slice_end(follow, step, -1, FOLLOW_FUNCTION, function->number);
}

int follow_take(struct follow *follow, const struct kev_item *item, struct follow_step *step)
{
    const uint32_t *words;
    unsigned nwords = kev_capture_words(follow->export->capture, &words);

    corpses_bury(follow);
    follow->now = follow->begun && item->ns < follow->now ? follow->now : item->ns;
    follow->begun = true;
    *step = (struct follow_step){.ns = follow->now, .previous_state = -1};
    if (item->cpu < 0 || item->cpu >= FOLLOW_CPUS || (item->flags & KEV_FLAG_INJECTED) != 0) {
        return 0;
    }
    cover_until(follow, follow->now);
    step->thread = thread_of(follow, item->pid, item->tid);
    switch (item->class_id) {
    case TRACE_CLASS_PR_TH:
        if (step->thread != NULL) {
            thread_event(follow, item, step, words, nwords);
        }
        break;
    case TRACE_CLASS_COMM:
        if (nwords >= 2 && follow->states) {
            comm_event(follow, item, step, words);
        }
        break;
    case TRACE_CLASS_INT:
        interrupt_event(follow, item, step, words, nwords);
        break;
    case TRACE_CLASS_KER_CALL:
    case TRACE_CLASS_KYMO_CALL:
        call_event(follow, item, step, words, nwords);
        break;
    case TRACE_CLASS_SYSTEM:
        if (item->code == FUNCTION_ENTER || item->code == FUNCTION_EXIT) {
            function_event(follow, item, step);
        }
        break;
    default:
        break;
    }
    if (follow->failed) {
        kymo_error("out of memory");
    }
    return follow->failed ? -1 : 0;
}

void follow_end(struct follow *follow)
{
    for (unsigned cpu = 0; cpu < FOLLOW_CPUS; cpu++) {
        cpu_leave(follow, cpu, follow->now, false);
        slices_close(follow, &follow->cpus[cpu].interrupts, NULL, (int)cpu, 0, follow->now);
    }
    others_do(follow, follow->now, thread_lose);
}

void follow_count(const struct follow *follow, unsigned *ready, unsigned *unknown)
{
    *ready = follow->ready;
    *unknown = follow->unknown;
}

struct follow_thread *follow_running(const struct follow *follow, int cpu)
{
    return cpu < 0 || cpu >= FOLLOW_CPUS ? NULL : follow->cpus[cpu].current;
}

/* ---- beginning and end ------------------------------------------------------------- */

static int turn_order(const void *a, const void *b)
{
    const struct follow_turn *x = a, *y = b;

    if (x->ns != y->ns) {
        return x->ns < y->ns ? -1 : 1;
    }
    /* What begins comes first, so that CPUs that take over from each other leave no hole. */
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
        qsort(follow->turns, follow->nturns, sizeof(*follow->turns), turn_order);
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
    corpses_bury(follow);
    for (unsigned i = 0; i < BUCKETS; i++) {
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
