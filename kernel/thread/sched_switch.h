/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The common case of the switch, inline in the kernel's exit paths: to the thread that this CPU has
 * just made READY. Part of kernel/thread/sched.h, which has the contract; sched.c has the other
 * cases. Kernel lock held. Counted by `make bench` (msg_rt_8, irq_thread); tested by
 * test/unit_kernel/sched_test.c.
 */
#ifndef KERNEL_THREAD_SCHED_SWITCH_H
#define KERNEL_THREAD_SCHED_SWITCH_H

#include "kernel/arch/cpu.h"
#include "kernel/arch/irq.h"
#include "kernel/thread/cpu.h"
#include "kernel/entry/kercall_trace.h"
#include "kernel/thread/thread.h"

#define PRIORITIES 256

struct sched {
    /* [k] the handoff thread: READY but in no queue; NULL: none. See sched_impl.h */
    struct thread *latest;
    uint32_t latest_front;           /* [k] 1: `latest` is the first of its priority; 0: the last */
    uint32_t above;                  /* [k] highest priority in the queues plus 1; 0: all empty */
    uint32_t several;                /* [k] several CPUs are online */
    uint32_t summary;                /* [k] bit per word of bits[] that is not 0 */
    uint32_t idle_cpus;              /* [k] mask */
    uint32_t quantum;                /* [I] cycles */
    uint32_t bits[PRIORITIES / 32];  /* [k] bit per queue that is not empty */
    struct list *queues[PRIORITIES]; /* [k] first thread of 255 - priority; NULL: empty */
};
extern struct sched sched;

struct thread *sched_switch_any(struct cpu *cpu, struct thread *self); /* all other cases */
/* Kicks other CPUs that should run READY threads. */
void sched_spread(const struct cpu *self);

static inline bool runs_on(const struct thread *t, const struct cpu *cpu)
{
    return CONFIG_CPUS == 1 || (t->runmask >> cpu->id & 1);
}

static inline bool several_cpus(void)
{
    return CONFIG_CPUS > 1 && sched.several;
}

/* Preempts self: it becomes the first of its priority. If its quantum is used up, the timer
 * preempts it as soon as it runs again beside a thread of equal priority. Precondition: no handoff
 * thread other than self. */
static inline void sched_preempt(struct thread *self)
{
    kernel_assert(self->state == STATE_RUNNING);
    kercall_trace_preempted(self);
    thread_set_state(self, STATE_READY);
    sched.latest = self;
    sched.latest_front = 1;
}

/* Switches the CPU from prev, no longer RUNNING, to next, no longer queued. If prev waits, it gets
 * a fresh quantum next time. */
static inline void switch_accounts(struct cpu *cpu, struct thread *prev, struct thread *next,
                                   bool waits)
{
    uint64_t now = arch_cycles();
    uint64_t ran = prev->run_cycles + (now - cpu->since);

    kernel_assert(prev == cpu->current && prev->state != STATE_RUNNING && next != prev);
    prev->run_cycles = ran;
    if (waits) {
        prev->slice_from = (uint32_t)ran;
    }
    cpu->since = now;
    cpu->current = next;
    if (CONFIG_CPUS > 1) {
        next->cpu = (uint8_t)cpu->id;
    }
}

static inline void switch_between(struct cpu *cpu, struct thread *prev, struct thread *next,
                                  bool waits)
{
    switch_accounts(cpu, prev, next, waits);
    thread_set_running(next, prev);
    arch_switch(prev, next);
}

static inline void spread_rest(const struct cpu *cpu)
{
    if (CONFIG_CPUS > 1 && (sched.latest || sched.above) && several_cpus()) {
        sched_spread(cpu);
    }
}

static inline struct thread *sched_switch(struct cpu *cpu, struct thread *self)
{
    struct thread *next = sched.latest;

    kernel_assert(kernel_locked());
    kernel_assert(!next || next->state == STATE_READY);
    if (!self || !next || next->priority < sched.above || !runs_on(next, cpu)) {
        return sched_switch_any(cpu, self);
    }
    /* Its priority is above every queued thread's, so it has no round-robin peer. */
    bool waits = self->state > STATE_READY;
    if (waits) {
        sched.latest = NULL;
    } else if (self->state == STATE_RUNNING && self->priority < next->priority) {
        sched_preempt(self);
    } else {
        return sched_switch_any(cpu, self); /* READY: self is `next` */
    }
    cpu->resched = 0;
    switch_between(cpu, self, next, waits);
    spread_rest(cpu);
    return next;
}

/* ---- for msg_direct.c: no event of these is on ------------------------------------- */

/* Returns whether sched_switch() will choose t if it is the handoff thread with this priority and
 * the CPU's thread waits. */
static inline bool sched_chosen(const struct cpu *cpu, const struct thread *t, uint8_t priority)
{
    return priority >= sched.above && runs_on(t, cpu);
}

/* prev begins to wait in this state, and next, which has been chosen, runs. Ignores
 * cpu->resched. */
static inline void sched_hand_over(struct cpu *cpu, struct thread *prev, enum thread_state state,
                                   struct thread *next)
{
    kernel_assert(prev->state == STATE_RUNNING && next->state >= STATE_READY);
    thread_set_state_unseen(prev, state);
    thread_set_state_unseen(next, STATE_RUNNING);
    switch_accounts(cpu, prev, next, true);
    arch_switch_integer(prev, next);
}

/* Returns whether waking t would change nothing except its state READY. */
static inline bool sched_waits(const struct cpu *cpu, const struct thread *self,
                               const struct thread *t)
{
    if (sched.latest || several_cpus() || t->priority > self->priority) {
        return false;
    }
    return t->priority < self->priority || self->policy == SCHED_FIFO ||
           cpu->quantum_end != UINT64_MAX;
}

static inline void sched_wake_waiting(struct thread *t)
{
    kernel_assert(!sched.latest && t->state > STATE_READY);
    sched.latest = t;
    sched.latest_front = 0;
    thread_set_state_unseen(t, STATE_READY);
}

#endif
