/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scheduler: a FIFO for each of 256 priorities, for all CPUs; FIFO and round robin. Kernel lock
 * held. Its common cases are inline in the kernel's exit and in the fast path of messages. Counted
 * by `make bench` (msg_rt_8, irq_thread).
 *
 * The thread that a CPU has made READY most recently is not enqueued at once but kept in
 * cpu->handoff, as the handoff thread: usually the next switch runs it, as for every message and
 * its reply, and it never enters a queue. It counts as the last of its priority. With several CPUs
 * it remains the handoff thread beyond the kernel's exit only if no other CPU may run it
 * (sched_waits()), or if handoff_give() moves it to an idle CPU because it is above all queued
 * threads: until that CPU reschedules, it stays ahead of threads of equal priority that are
 * enqueued meanwhile.
 *
 * A makefile chooses how the READY threads are stored, by -DKERNEL_READY_H:
 *   kernel/thread/ready/each.h  a queue for each priority: as fast for any number
 *   kernel/thread/ready/one.h   one queue, for boards with a dozen threads: 1 KB less
 * Each defines struct ready_queues, which is initially zero, in struct sched (ready/state.h), and
 * with its .c file queue_insert(), queue_remove(), queue_after_any() and
 *   ready_first()          returns the first of all queued threads; there is at least one
 *   ready_of(priority)     returns the node of the first thread of this priority, or NULL
 *   ready_turn(first, t)   puts t, which becomes READY, at the end of its priority's queue, and
 *                          removes that queue's first thread
 */
#ifndef KERNEL_THREAD_SCHED_H
#define KERNEL_THREAD_SCHED_H

#include "kernel/arch/cpu.h"
#include "kernel/arch/irq.h"
#include "kernel/entry/entry.h"
#include "kernel/thread/thread.h"

#define PRIORITIES 256

#ifndef KERNEL_READY_H
#define KERNEL_READY_H "kernel/thread/ready/each.h"
#endif
#include KERNEL_READY_H

void sched_init(void);
/* Enqueues a thread that can run (the caller sets state READY: thread_wake). This CPU reschedules
 * at the kernel's exit if needed, and then kicks another CPU: an idle one, otherwise the one
 * running the lowest priority below the thread's. */
void sched_ready(struct thread *t);
void sched_unready(struct thread *t); /* removes it from its queue */
/* Moves t, if it is RUNNING, after the READY threads of its priority, with a fresh quantum. */
void sched_give_way(struct thread *t);
/* Implements SchedYield(): sched_give_way() and, if the next thread is known, the switch at once.
 * Returns 0 or KER_STATUS. */
long sched_give_way_now(struct thread *self);
void sched_quantum(struct cpu *cpu); /* timer work: round robin */
/* Handles all cases of sched_switch() that are not inline. */
struct thread *sched_switch_any(struct cpu *cpu, struct thread *self);
/* Kicks other CPUs that should run READY threads. They in turn kick the next ones. */
void sched_kick_others(struct cpu *self);

/* ---- the ready queues ----------------------------------------------------------- */

void queue_insert(struct thread *t, bool at_front);
/* Enqueues this CPU's handoff thread: afterwards all READY threads that it may run are in
 * queues. */
void queue_handoff(struct cpu *cpu);
void queue_remove(struct thread *t);
/* Returns the thread after t, which is queued, in scheduling order, or NULL if t is the last
 * one. */
struct thread *queue_after_any(const struct thread *t);
static inline struct thread *queue_after(const struct thread *t)
{
    return sched.queued > 1 ? queue_after_any(t) : NULL;
}

/* Returns whether another thread of t's priority is READY. t runs on this CPU. */
static inline bool has_equal(const struct cpu *cpu, const struct thread *t)
{
    return ready_of(t->priority) || (cpu->handoff && cpu->handoff->priority == t->priority);
}

/* Returns the CPU whose handoff thread t is, or NULL. Bounded by CONFIG_CPUS. */
static inline struct cpu *handoff_of(const struct thread *t)
{
    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        if (cpus[n].handoff == t) {
            return &cpus[n];
        }
    }
    return NULL;
}

static inline bool is_idle(const struct cpu *cpu)
{
    return sched.idle_cpus & cpu->bit;
}

/* ---- the switch -------------------------------------------------------------------- */

static inline bool runs_on(const struct thread *t, const struct cpu *cpu)
{
    return CONFIG_CPUS == 1 || (t->runmask & cpu->bit);
}

static inline bool several_cpus(void)
{
    return CONFIG_CPUS > 1 && sched.several;
}

/* Preempts self: it becomes the first of its priority. If its quantum is used up, the timer
 * preempts it as soon as it runs again while there is a READY thread of equal priority.
 * Precondition: no handoff thread other than self. */
static inline void sched_preempt(struct cpu *cpu, struct thread *self)
{
    kernel_assert(self->state == STATE_RUNNING);
    kercall_trace_preempted(self);
    thread_set_state(self, STATE_READY);
    cpu->handoff = self;
    cpu->handoff_front = 1;
}

/* Returns the value that gives t's run_cycles when the current time is added, if t runs on this
 * CPU. Only this CPU changes it then, so it may be read without the lock. */
static inline uint64_t sched_ran(const struct cpu *cpu, const struct thread *t)
{
    uint64_t ran = t->run_cycles - cpu->since;

    if (CONFIG_CPUS > 1) {
        __asm__("" : "+r"(ran)); /* computed at this point */
    }
    return ran;
}

/* Switches the CPU from prev, no longer RUNNING, to next, no longer queued. If prev waits, it gets
 * a fresh quantum next time. before: sched_ran() of prev. */
static inline void switch_accounts(struct cpu *cpu, struct thread *prev, struct thread *next,
                                   bool waits, uint64_t before)
{
    uint64_t now = arch_cycles();
    uint64_t ran = before + now;

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
    switch_accounts(cpu, prev, next, waits, sched_ran(cpu, prev));
    thread_set_running(next, prev);
    arch_switch(prev, next);
}

static inline void sched_kick_rest(struct cpu *cpu)
{
    if (CONFIG_CPUS > 1 && (cpu->handoff || sched.above) && several_cpus()) {
        sched_kick_others(cpu);
    }
}

/* Chooses the thread that this CPU runs next; `self` (may be NULL) is the one it ran, which can
 * continue if its state is RUNNING. Returns NULL for idle. Does the whole switch: states,
 * accounting, arch_switch(). Inline is the common case: a switch to the thread that this CPU has
 * just made READY. */
static inline struct thread *sched_switch(struct cpu *cpu, struct thread *self)
{
    struct thread *next = cpu->handoff;

    kernel_assert(kernel_locked());
    kernel_assert(!next || next->state == STATE_READY);
    if (!self || !next || next->priority < sched.above || !runs_on(next, cpu)) {
        return sched_switch_any(cpu, self);
    }
    /* Its priority is above every queued thread's, so it has no round-robin peer. */
    bool waits = self->state > STATE_READY;
    if (waits) {
        cpu->handoff = NULL;
    } else if (self->state == STATE_RUNNING && self->priority < next->priority) {
        sched_preempt(cpu, self);
    } else {
        return sched_switch_any(cpu, self); /* READY: self is `next` */
    }
    cpu->resched = 0;
    switch_between(cpu, self, next, waits);
    sched_kick_rest(cpu);
    return next;
}

/* ---- for msg_direct.c: of these only sched_wake_handed() has events ---------------- */

/* Returns whether sched_switch() will choose t if it is the handoff thread with this priority and
 * the CPU's thread waits. above: sched.above. */
static inline bool sched_chosen(const struct cpu *cpu, const struct thread *t, uint8_t priority,
                                uint32_t above)
{
    return priority >= above && runs_on(t, cpu);
}

/* Blocks prev in this state and runs next, which has been chosen. Called between
 * arch_switch_save(prev) and arch_switch_load(next). ran: sched_ran(). Ignores cpu->resched. */
static inline void sched_hand_over(struct cpu *cpu, struct thread *prev, enum thread_state state,
                                   struct thread *next, uint64_t ran)
{
    kernel_assert(prev->state == STATE_RUNNING && next->state >= STATE_READY);
    thread_set_state_unseen(prev, state);
    thread_set_state_unseen(next, STATE_RUNNING);
    switch_accounts(cpu, prev, next, true, ran);
    arch_switch_space(prev, next);
}

/* Returns whether another CPU may run t. */
static inline bool others_may_run(const struct cpu *cpu, const struct thread *t)
{
    return CONFIG_CPUS > 1 && (t->runmask & sched.several & cpu->others) != 0;
}

/* Returns whether waking t, while there is no handoff thread, would only set its state to READY. */
static inline bool sched_waits(const struct cpu *cpu, const struct thread *self,
                               const struct thread *t)
{
    if (others_may_run(cpu, t)) {
        return false;
    }
    if (likely(t->priority < self->priority)) {
        return true;
    }
    return t->priority == self->priority &&
           (self->policy == SCHED_FIFO || cpu->quantum_end != UINT64_MAX);
}

/* Makes t the handoff thread, with its event. Equivalent to sched_wake() where sched_chosen() or
 * sched_waits() holds. */
static inline void sched_wake_handed(struct cpu *cpu, struct thread *t)
{
    kernel_assert(!cpu->handoff && t->state > STATE_READY);
    cpu->handoff = t;
    cpu->handoff_front = 0;
    thread_set_state(t, STATE_READY);
}

static inline void sched_wake_waiting(struct cpu *cpu, struct thread *t)
{
    kernel_assert(!cpu->handoff && t->state > STATE_READY);
    cpu->handoff = t;
    cpu->handoff_front = 0;
    thread_set_state_unseen(t, STATE_READY);
}

#endif
