/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cause of what happens on a CPU: the interrupt that the CPU is busy with, else the thread that
 * runs there (flow.h).
 */
#include "host/flow/own.h"

/* Returns the number of the interrupt that the CPU is or was busy with. */
static uint32_t flow_interrupt_of(const struct flow_cpu *cpu)
{
    const struct flow_stack *open = &cpu->interrupts;

    return open->depth > 0 ? (uint32_t)open->open[open->depth - 1].what : cpu->interrupt;
}

static bool flow_is_interrupted(const struct flow_cpu *cpu)
{
    return cpu->after_interrupt || cpu->interrupts.depth > 0;
}

enum flow_cause flow_doer(const struct flow *flow, unsigned on, uint32_t *by)
{
    const struct flow_cpu *cpu = &flow->cpus[on];

    if (cpu->covered && flow_is_interrupted(cpu)) {
        *by = flow_interrupt_of(cpu);
        return FLOW_CAUSE_INTERRUPT;
    }
    if (cpu->covered && cpu->current != NULL) {
        *by = cpu->current->serial;
        return FLOW_CAUSE_THREAD;
    }
    return FLOW_CAUSE_UNKNOWN;
}

static bool flow_only_interrupts_end(unsigned state)
{
    return state == STATE_NANOSLEEP || state == STATE_INTR;
}

/* After an interrupt its doing can't be told from that of a kernel call that it interrupted, or
 * that was not recorded, but for waits that only interrupts end. */
static bool flow_is_interrupts(const struct flow *flow, const struct flow_cpu *cpu,
                               const struct flow_thread *thread)
{
    bool calls = flow->filters.no_calls || (cpu->current != NULL && !cpu->current->idle &&
                                            flow_call_of(cpu->current) != NULL);

    return !calls || cpu->interrupts.depth > 0 ||
           flow_only_interrupts_end((unsigned)thread->now.state);
}

/* An idle thread does nothing. If interrupts were not recorded, a thread is known to have done it
 * only if it was in a kernel call, which interrupts don't interrupt. */
static bool flow_is_threads(const struct flow *flow, const struct flow_cpu *cpu,
                            const struct flow_thread *thread)
{
    if (cpu->current == NULL || cpu->current->idle) {
        return false;
    }
    return !flow->filters.no_interrupts ||
           (!flow->filters.no_calls && flow_call_of(cpu->current) != NULL &&
            !flow_only_interrupts_end((unsigned)thread->now.state));
}

void flow_cause(const struct flow *flow, unsigned on, const struct flow_thread *thread,
                struct flow_state *state)
{
    const struct flow_cpu *cpu = &flow->cpus[on];

    if (!cpu->covered) {
        return;
    }
    if (thread->cpu == (int)on) {
        state->cause = state->state == STATE_READY ? FLOW_CAUSE_PREEMPTED : FLOW_CAUSE_SELF;
    } else if (flow_is_interrupted(cpu) && state->state == STATE_READY) {
        if (flow_is_interrupts(flow, cpu, thread)) {
            state->cause = FLOW_CAUSE_INTERRUPT;
            state->by = flow_interrupt_of(cpu);
        }
    } else if (flow_is_threads(flow, cpu, thread)) {
        state->cause = FLOW_CAUSE_THREAD;
        state->by = cpu->current->serial;
    }
}
