/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events, slices and messages of a capture that is read once (follow.h).
 */
#include <stdlib.h>

#include "host/export/follow_own.h"
#include "host/kymo.h"
#include "host/timeline/timeline.h"
#include "trace/slot.h"

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

/* ---- slices ------------------------------------------------------------------------ */

void follow_slices_close(struct follow *follow, struct follow_stack *stack,
                         const struct follow_thread *thread, int cpu, uint32_t depth, int64_t ns)
{
    while (stack->depth > depth) {
        stack->depth--;
        if (follow->ops->close != NULL) {
            follow->ops->close(follow->export, thread, cpu, ns);
        }
    }
    if (depth == 0) {
        stack->over = 0;
    }
}

static enum follow_role follow_slice_begin(struct follow *follow, struct follow_stack *stack,
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
    follow_slices_close(follow, stack, step->thread, cpu, depth, step->ns);
    stack->depth--;
    return FOLLOW_END;
}

/* ---- messages ---------------------------------------------------------------------- */

void follow_message_forget(struct follow *follow, struct follow_thread *client, int64_t ns,
                           bool replied)
{
    if (client->message == 0) {
        return;
    }
    if (!replied && follow->ops->abandon != NULL) {
        follow->ops->abandon(follow->export, client, ns);
    }
    if (!client->received) {
        struct follow_thread **at = &follow->messages[client->rcvid & (FOLLOW_BUCKETS - 1)];

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

void follow_message_step(struct follow_step *step, enum follow_message what,
                         const struct follow_thread *client, struct follow_thread *party)
{
    step->message = what;
    step->message_id = client->message;
    step->party = party;
}

static void message_send(struct follow *follow, struct follow_step *step, const uint32_t *words)
{
    struct follow_thread *client = step->thread, **at;

    follow_message_forget(follow, client, step->ns, false);
    client->message = ++follow->message;
    client->rcvid = words[0];
    client->server = (int32_t)words[1];
    client->received = false;
    at = &follow->messages[client->rcvid & (FOLLOW_BUCKETS - 1)];
    client->message_next = *at;
    *at = client;
    follow_message_step(step, FOLLOW_SENT, client, client);
}

/* The event is of the thread that runs: the server's, or the client's, which hands it over. */
static void message_receive(struct follow *follow, struct follow_step *step, int cpu,
                            const uint32_t *words)
{
    struct follow_thread **at = &follow->messages[words[0] & (FOLLOW_BUCKETS - 1)], *client;

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
        follow_message_step(step, FOLLOW_RECEIVED, client, step->thread);
    }
}

static void follow_comm_event(struct follow *follow, const struct kev_item *item,
                              struct follow_step *step, const uint32_t *words)
{
    if (item->code != COMM_REPLY && item->code != COMM_ERROR) {
        follow->cpus[item->cpu].handed = NULL;
    }
    if (item->code == COMM_SEND && step->thread != NULL && follow->uncovered == 0) {
        message_send(follow, step, words);
    } else if (item->code == COMM_RECEIVE) {
        message_receive(follow, step, item->cpu, words);
    } else if (item->code == COMM_REPLY || item->code == COMM_ERROR) {
        struct follow_thread *client =
            follow_thread_of(follow, (int32_t)words[1], (int32_t)words[0]);

        if (client != NULL && client->message != 0) {
            follow_message_step(step, FOLLOW_REPLIED, client, client);
            follow_message_forget(follow, client, step->ns, true);
        }
    }
}

/* ---- events ------------------------------------------------------------------------ */

static void follow_call_event(struct follow *follow, const struct kev_item *item,
                              struct follow_step *step, const uint32_t *words, unsigned nwords)
{
    unsigned kind = item->number & (TRACE_KERCALL_EXIT | TRACE_KERCALL_INT),
             call = item->number % 128;
    struct follow_stack *stack = step->thread == NULL ? NULL : &step->thread->slices;

    if (kind == TRACE_KERCALL_ENTER && call == CALL_TRACE_EVENT && follow->export->facts->is_kymo &&
        timeline_hides(words, nwords, (item->number & TRACE_EVENT_64) != 0)) {
        follow_cover_stop(follow, step->ns);
    }
    if (stack == NULL || !follow->slices || !follow->cpus[item->cpu].covered) {
        return;
    }
    if (kind == TRACE_KERCALL_EXIT) {
        step->role = slice_end(follow, step, -1, FOLLOW_CALL, call);
    } else if (kind == TRACE_KERCALL_ENTER) {
        if (stack->depth > 0 && stack->open[stack->depth - 1].kind == FOLLOW_CALL) {
            follow_slices_close(follow, stack, step->thread, -1, stack->depth - 1, step->ns);
        }
        step->role = follow_slice_begin(follow, stack, FOLLOW_CALL, call);
    }
}

static void follow_interrupt_event(struct follow *follow, const struct kev_item *item,
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
    step->role = entry ? follow_slice_begin(follow, stack, kind, words[at])
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
    step->role =
        item->code == FUNCTION_ENTER
            ? follow_slice_begin(follow, &step->thread->slices, FOLLOW_FUNCTION, function->number)
            : slice_end(follow, step, -1, FOLLOW_FUNCTION, function->number);
}

int follow_take(struct follow *follow, const struct kev_item *item, struct follow_step *step)
{
    const uint32_t *words;
    unsigned nwords = kev_capture_words(follow->export->capture, &words);

    follow_corpses_bury(follow);
    follow->now = follow->begun && item->ns < follow->now ? follow->now : item->ns;
    follow->begun = true;
    *step = (struct follow_step){.ns = follow->now, .previous_state = -1};
    if (item->cpu < 0 || item->cpu >= FOLLOW_CPUS || (item->flags & KEV_FLAG_INJECTED) != 0) {
        return 0;
    }
    follow_cover_until(follow, follow->now);
    step->current = follow->cpus[item->cpu].current;
    step->thread = step->owner = follow_thread_of(follow, item->pid, item->tid);
    switch (item->class_id) {
    case TRACE_CLASS_PR_TH:
        if (step->thread != NULL) {
            follow_thread_event(follow, item, step, words, nwords);
        }
        break;
    case TRACE_CLASS_COMM:
        if (nwords >= 2 && follow->states) {
            follow_comm_event(follow, item, step, words);
        }
        break;
    case TRACE_CLASS_INT:
        follow_interrupt_event(follow, item, step, words, nwords);
        break;
    case TRACE_CLASS_KER_CALL:
    case TRACE_CLASS_KYMO_CALL:
        follow_call_event(follow, item, step, words, nwords);
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

void follow_count(const struct follow *follow, unsigned *ready, unsigned *unknown)
{
    *ready = follow->ready;
    *unknown = follow->unknown;
}

void follow_lose(struct follow *follow, const struct kev_item *item)
{
    follow->now = follow->begun && item->ns < follow->now ? follow->now : item->ns;
    follow->begun = true;
    follow_cover_until(follow, follow->now);
}
