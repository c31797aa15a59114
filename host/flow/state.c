/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The states of threads, and what each CPU runs: a thread runs from its THRUNNING on a CPU until
 * the next THRUNNING there; a state that it takes on while it is still current begins when it
 * leaves the CPU (flow.h).
 */
#include "host/flow/own.h"
#include "host/pr_th.h"

const struct flow_state flow_state_unknown = {.mark = FLOW_UNMARKED,
                                              .message = FLOW_UNMARKED,
                                              .state = -1,
                                              .cpu = -1,
                                              .priority = -1,
                                              .on = -1};

/* The thread's state from `ns` on; the one before it is given away. `ended`: that it ends then is
 * known. */
static void flow_state_set(struct flow *flow, struct flow_thread *thread,
                           const struct flow_state *state, int64_t ns, bool ended)
{
    if (thread->now.state >= 0 && flow->ops->span != NULL) {
        flow->ops->span(flow->arg, thread, &thread->now, ns, ended);
    }
    flow->ready += (state->state == STATE_READY) - (thread->now.state == STATE_READY);
    flow->unknown += (state->state < 0) - (thread->now.state < 0);
    thread->now = *state;
    thread->now.since = ns;
    if (state->state >= 0) {
        flow_thread_noted(flow, thread);
        if (flow->ops->begin != NULL) {
            flow->ops->begin(flow->arg, thread, &thread->now);
        }
    }
}

void flow_thread_over(struct flow *flow, struct flow_thread *thread, int64_t ns, bool ended)
{
    flow_state_set(flow, thread, &flow_state_unknown, ns, ended);
    flow_thread_unhold(thread);
    flow_slices_close(flow, &thread->slices, thread, -1, 0, ns, ended ? FLOW_ABORTED : FLOW_LOST);
    flow_message_forget(flow, thread, ns, false, FLOW_LOST);
}

void flow_thread_lose(struct flow *flow, struct flow_thread *thread, int64_t ns)
{
    flow_thread_over(flow, thread, ns, false);
}

/* ---- CPUs ---------------------------------------------------------------------------- */

void flow_cpu_leave(struct flow *flow, unsigned on, int64_t ns, bool known)
{
    struct flow_cpu *cpu = &flow->cpus[on];
    struct flow_thread *thread = cpu->current;
    struct flow_state then = flow_state_unknown;

    cpu->current = NULL;
    flow_handed_end(cpu);
    if (thread == NULL) {
        return;
    }
    if (known && flow->uncovered == 0 && thread->then_turn == flow->turn) {
        then = thread->then;
    }
    flow_state_set(flow, thread, &then, ns, known);
    thread->cpu = -1;
    thread->then = flow_state_unknown;
    if (thread->gone) {
        flow_thread_end(flow, thread, ns, known);
    } else if (!known || flow->uncovered > 0) {
        flow_thread_lose(flow, thread, ns);
    }
}

/* States that waited for the CPU's thread to become known begin. */
static void flow_held_begin(struct flow *flow, unsigned on, int64_t ns)
{
    struct flow_thread *thread;

    while ((thread = flow->cpus[on].held) != NULL) {
        struct flow_state then = thread->then;

        flow->steps++;
        flow_thread_unhold(thread);
        thread->then = flow_state_unknown;
        flow_state_set(flow, thread, &then, ns, true);
    }
}

/* known: it was known what ran before. */
static void flow_cpu_runs(struct flow *flow, unsigned on, struct flow_thread *thread,
                          const struct flow_state *state, int64_t ns, bool known)
{
    thread->cpu = (int16_t)on;
    flow->cpus[on].current = thread;
    flow_state_set(flow, thread, state, ns, true);
    if (!known) {
        flow_held_begin(flow, on, ns);
    }
}

void flow_cpu_told(struct flow *flow, unsigned on, int64_t ns)
{
    struct flow_cpu *cpu = &flow->cpus[on];
    struct flow_thread *thread = cpu->told;
    struct flow_state state = flow_state_unknown;

    cpu->told = NULL;
    if (thread == NULL || cpu->current != NULL || thread->cpu >= 0 || !flow->states) {
        return;
    }
    if (thread->now.state >= 0 && ns < thread->now.since) {
        return; /* events of another CPU are newer */
    }
    flow_thread_unhold(thread);
    thread->then = flow_state_unknown;
    state.state = STATE_RUNNING;
    state.cpu = (int16_t)on;
    flow_cpu_runs(flow, on, thread, &state, ns, false);
}

/* ---- states -------------------------------------------------------------------------- */

static void flow_thread_runs(struct flow *flow, struct flow_state *state, unsigned on,
                             struct flow_step *step)
{
    struct flow_thread *thread = step->thread;
    struct flow_cpu *cpu = &flow->cpus[on];
    struct flow_thread *previous = cpu->current, *client = cpu->handed;

    cpu->aborting = false;
    thread->gone = false; /* its number is in use, whoever has it */
    flow_thread_unhold(thread);
    if (client != NULL && client->server == thread->pid && client != thread) {
        flow_message_step(step, FLOW_RECEIVED, client, thread);
    }
    if (previous == thread) { /* its wait was over before it left the CPU */
        thread->then = flow_state_unknown;
        return;
    }
    if (thread->cpu >= 0) {
        flow_cpu_leave(flow, (unsigned)thread->cpu, step->ns, true);
    }
    step->switched = true;
    step->running = thread;
    step->previous = previous;
    flow_cpu_leave(flow, on, step->ns, true);
    step->previous_state = previous == NULL ? -1 : previous->now.state;
    thread->then = flow_state_unknown;
    if (!cpu->covered) { /* how long it runs is not known */
        flow_state_set(flow, thread, &flow_state_unknown, step->ns, flow->uncovered == 0);
        return;
    }
    state->cpu = (int16_t)on;
    flow_cpu_runs(flow, on, thread, state, step->ns, previous != NULL);
}

/* Fills in what the thread waits for, by its kernel call and the message that it has sent. */
static void flow_state_describe(const struct flow_thread *thread, struct flow_state *state)
{
    const struct flow_open *call = flow_call_of(thread);

    if (state->state == STATE_SEND || state->state == STATE_REPLY) {
        state->message = thread->message_mark;
    }
    if (call != NULL && (state->state == STATE_MUTEX || state->state == STATE_CONDVAR ||
                         state->state == STATE_SEM)) {
        state->object = state->state == STATE_MUTEX && call->what == CALL_SYNC_CONDVAR_WAIT
                            ? call->mutex
                            : call->object;
        state->owner = state->state == STATE_MUTEX ? call->owner : 0;
    }
}

/* A message that has been handed over has reached its server's thread; or the thread goes on
 * without a reply to its own. */
static void flow_message_over(struct flow *flow, unsigned on, unsigned state,
                              struct flow_step *step)
{
    struct flow_thread *thread = step->thread, *client = flow->cpus[on].handed;

    if (state == STATE_READY && client != NULL && client->server == thread->pid &&
        client != thread) {
        flow_message_step(step, FLOW_RECEIVED, client, thread);
        flow_handed_end(&flow->cpus[on]);
    } else if (state == STATE_READY || state == STATE_DEAD) {
        flow_message_forget(flow, thread, step->ns, false, FLOW_ABORTED);
    }
}

/* Any state but RUNNING. */
static void flow_thread_changes(struct flow *flow, struct flow_state *state, unsigned on,
                                struct flow_step *step)
{
    struct flow_thread *thread = step->thread;
    bool was_known = thread->now.state >= 0;

    if (!state->begun && was_known && thread->now.state == state->state) {
        return; /* a state dump: that is known already */
    }
    flow_state_describe(thread, state);
    if (state->begun && flow->source == NULL) {
        flow_cause(flow, on, thread, state);
    }
    if (state->begun) {
        flow_message_over(flow, on, (unsigned)state->state, step);
    }
    if (thread->cpu >= 0) {
        thread->then = *state;
        thread->then_turn = flow->uncovered == 0 ? flow->turn : FLOW_NO_TURN;
        return;
    }
    if (state->state == STATE_READY && thread->now.state != STATE_READY && state->begun) {
        step->woken = thread;
    }
    flow_thread_unhold(thread);
    if (flow->uncovered > 0) {
        flow_state_set(flow, thread, &flow_state_unknown, step->ns, false);
    } else if (flow->cpus[on].current == NULL && !was_known) {
        flow_thread_hold(flow, thread, on);
        thread->then = *state;
        flow_thread_noted(flow, thread);
    } else {
        flow_state_set(flow, thread, state, step->ns, true);
    }
}

void flow_state_event(struct flow *flow, const struct kev_item *item, struct flow_step *step,
                      const uint32_t *words, unsigned nwords)
{
    struct flow_thread *thread = step->thread;
    struct flow_state state = flow_state_unknown;

    if (item->state >= 0 && nwords > 2 && words[2] <= 255) { /* the wide form: priority, policy */
        state.priority = thread->priority = (int16_t)words[2];
    }
    if (!flow->states) {
        return;
    }
    state.state = (int16_t)item->state;
    state.on = (int16_t)item->cpu;
    state.begun = (item->flags & KEV_FLAG_DUMP) == 0;
    if (item->state == STATE_RUNNING) {
        flow_thread_runs(flow, &state, (unsigned)item->cpu, step);
    } else if (item->state >= 0 && item->state < PR_TH_CREATE) {
        flow_thread_changes(flow, &state, (unsigned)item->cpu, step);
    } else if (item->code == PR_TH_DESTROY) {
        flow_message_forget(flow, thread, step->ns, false, FLOW_ABORTED);
        thread->gone = thread->cpu >= 0;
        thread->then = flow_state_unknown;
        if (!thread->gone) {
            flow_thread_end(flow, thread, step->ns, true);
        }
    }
}
