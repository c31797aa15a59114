/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cause of what happens on a CPU: the interrupt whose handler runs, the thread that runs, or
 * the interrupt that came since that thread's kernel call began. The kernel acts on an interrupt
 * when it leaves, so what follows a call may be the doing of either: then no cause is known
 * (flow.h).
 */
#include "host/event_numbers.h"
#include "host/flow/own.h"
#include "trace/slot.h"

void flow_cause_event(struct flow *flow, const struct kev_item *item, const uint32_t *words,
                      unsigned nwords)
{
    struct flow_cpu *cpu = &flow->cpus[item->cpu];
    bool answers = item->class_id == TRACE_CLASS_COMM && nwords >= 2 &&
                   (item->code == NUMBER_comm_reply_message || item->code == NUMBER_comm_msg_error);

    cpu->answered_tid = answers ? (int32_t)words[0] : KEV_NOBODY;
    cpu->answered_pid = answers ? (int32_t)words[1] : KEV_NOBODY;
    if (item->class_id == TRACE_CLASS_INT && item->code == NUMBER_int_entry && nwords > 0) {
        cpu->several = cpu->interrupted && (cpu->several || cpu->interrupt != words[0]);
        cpu->interrupt = words[0];
        cpu->interrupted = true;
    } else if (item->class_id == TRACE_CLASS_INT && item->code == NUMBER_int_handler_entry &&
               nwords > 1 && words[1] < FLOW_INTERRUPTS) {
        flow->handled[words[1]] = true;
    } else if (item->class_id == TRACE_CLASS_USER) {
        flow_cause_calls(cpu);
    }
}

void flow_cause_calls(struct flow_cpu *cpu)
{
    cpu->interrupted = cpu->several = false; /* the kernel had left before */
}

static bool flow_is_call(const struct flow_open *call, unsigned number)
{
    return call != NULL && call->what == number;
}

/* Returns whether a call ends other threads' waits of any kind. */
static bool flow_kills(const struct flow_open *call)
{
    return flow_is_call(call, CALL_SIGNAL_KILL) || flow_is_call(call, CALL_THREAD_DESTROY) ||
           flow_is_call(call, CALL_PROC_EXIT);
}

/* Of what happens after an interrupt: returns whether it is the interrupt's doing; it may be that
 * of the thread else, which is in the kernel or dies. Nothing but a kill ends another's
 * NANOSLEEP. An interrupt that handlers run for does nothing without them: then it was a timer,
 * whose time the kernel looks at whenever it leaves. */
static bool flow_is_interrupts(const struct flow *flow, const struct flow_cpu *cpu,
                               const struct flow_thread *woken)
{
    const struct flow_open *call = cpu->current == NULL ? NULL : flow_call_of(cpu->current);

    if (cpu->interrupt < FLOW_INTERRUPTS && flow->handled[cpu->interrupt]) {
        return false;
    }
    if (cpu->several || cpu->current == NULL || flow->filters.no_calls) {
        return cpu->current != NULL && cpu->current->idle && !cpu->several;
    }
    if (woken != NULL && woken->now.state == STATE_NANOSLEEP) {
        return !flow_kills(call);
    }
    return cpu->current->idle || (call == NULL && !cpu->aborting && !cpu->current->gone &&
                                  cpu->current->then.state != STATE_DEAD);
}

/* Likewise: returns whether it is the thread's. */
static bool flow_is_threads(const struct flow *flow, const struct flow_cpu *cpu,
                            const struct flow_thread *woken)
{
    if (cpu->current == NULL || cpu->current->idle) {
        return false;
    }
    if (woken != NULL && woken->tid == cpu->answered_tid && woken->pid == cpu->answered_pid) {
        return true; /* the event before this one is its reply */
    }
    return !cpu->interrupted && !flow->filters.no_interrupts;
}

enum flow_cause flow_doer(const struct flow *flow, unsigned on, const struct flow_thread *woken,
                          uint32_t *by)
{
    const struct flow_cpu *cpu = &flow->cpus[on];
    const struct flow_open *handler = flow_handler_of(cpu);

    if (!cpu->covered) {
        return FLOW_CAUSE_UNKNOWN;
    }
    if (handler != NULL) {
        *by = (uint32_t)handler->what;
        return FLOW_CAUSE_INTERRUPT;
    }
    if (flow_is_threads(flow, cpu, woken)) {
        *by = cpu->current->serial;
        return FLOW_CAUSE_THREAD;
    }
    if (cpu->interrupted && flow_is_interrupts(flow, cpu, woken)) {
        *by = cpu->interrupt;
        return FLOW_CAUSE_INTERRUPT;
    }
    return FLOW_CAUSE_UNKNOWN;
}

/* A thread that can run leaves its CPU. */
static enum flow_cause flow_leaving(const struct flow *flow, const struct flow_cpu *cpu,
                                    const struct flow_thread *thread)
{
    if (thread->then.state > STATE_STOPPED) {
        return FLOW_CAUSE_SELF; /* it had blocked, and was woken at once */
    }
    if (flow->filters.no_calls) {
        return FLOW_CAUSE_UNKNOWN;
    }
    if (!flow_is_call(flow_call_of(thread), CALL_SCHED_YIELD) || cpu->aborting) {
        return FLOW_CAUSE_PREEMPTED;
    }
    return cpu->interrupted ? FLOW_CAUSE_UNKNOWN : FLOW_CAUSE_SELF;
}

void flow_cause(const struct flow *flow, unsigned on, const struct flow_thread *thread,
                struct flow_state *state)
{
    const struct flow_cpu *cpu = &flow->cpus[on];

    if (!cpu->covered) {
        return;
    }
    if (thread->cpu == (int)on) {
        state->cause = (uint8_t)(state->state == STATE_READY ? flow_leaving(flow, cpu, thread)
                                                             : FLOW_CAUSE_SELF);
    } else if (state->state == STATE_READY || state->state == STATE_MUTEX) {
        state->cause = (uint8_t)flow_doer(flow, on, thread, &state->by);
    } else if (cpu->current != NULL) { /* interrupts do nothing else to a thread */
        state->cause = FLOW_CAUSE_THREAD;
        state->by = cpu->current->serial;
    }
}
