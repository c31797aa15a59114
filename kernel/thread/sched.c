/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scheduler: one set of ready queues for all CPUs (kernel/thread/ready), FIFO and round robin,
 * run masks. Kernel lock held.
 *
 * sched_ready() never decides for another CPU. It makes its own CPU call sched_switch() at the
 * kernel's exit, which chooses the thread this CPU should run; only then are other CPUs kicked for
 * the remaining threads that they should run (sched_kick_others). So a thread woken by one that
 * then blocks stays on its CPU, without an interrupt to an idle one.
 *
 * Round robin has no tick: quantum_end is set when a thread runs while another one of the same
 * priority is READY, and switches don't change it; when it expires, sched_quantum() checks how much
 * of its quantum the running thread has used. Tested by test/kernel/thread/sched_test.c.
 */
#include "kernel/thread/sched.h"

#include "abi/compiler.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/irq.h"
#include "kernel/proc/proc.h"

/* ---- READY ------------------------------------------------------------------------- */

struct sched sched;
/* Represents a service request in the ready queues. No CPU ever switches to it. */
static struct thread service;

void sched_init(void)
{
    service = (struct thread){.state = STATE_STOPPED, .runmask = UINT32_MAX};
    sched.quantum = (uint32_t)clock_ns_to_cycles(CONFIG_RR_QUANTUM_MS * 1000000ull);
}

/* Returns the part of its quantum that t had used when it got the CPU. */
static inline uint32_t slice_used(const struct thread *t)
{
    return (uint32_t)t->run_cycles - t->slice_from;
}

static inline void slice_begin(struct thread *t)
{
    t->slice_from = (uint32_t)t->run_cycles;
}

/* Starts the quantum of cpu's thread, which runs while another one of its priority is READY. Keeps
 * an end already set: threads that switch often program the timer at most once per quantum. */
static __attribute__((noinline)) void quantum_arm(struct cpu *cpu, const struct thread *t)
{
    uint32_t used = slice_used(t);

    cpu->quantum_end = cpu->since + (used < sched.quantum ? sched.quantum - used : 0);
    timer_reprogram(cpu);
}

/* Called when cpu's thread runs while another one of its priority is READY. */
static inline void quantum_begin(struct cpu *cpu, const struct thread *t)
{
    if (t->policy != SCHED_FIFO && cpu->quantum_end == UINT64_MAX) {
        quantum_arm(cpu, t);
    }
}

static inline void quantum_check(struct cpu *cpu, const struct thread *t)
{
    if (has_equal(cpu, t)) {
        quantum_begin(cpu, t);
    }
}

/* Not inline, like queue_best(): so the callers' common cases save fewer registers (make bench). */
__attribute__((noinline)) void queue_handoff(struct cpu *cpu)
{
    if (cpu->handoff) {
        queue_insert(cpu->handoff, cpu->handoff_front);
        cpu->handoff = NULL;
    }
}

void sched_ready(struct thread *t)
{
    struct cpu *cpu = arch_cpu();
    struct thread *current = cpu->current;

    kernel_assert(kernel_locked());
    kernel_assert(t->state == STATE_READY && !handoff_of(t) && t != cpu->idle);
    queue_handoff(cpu);
    cpu->handoff = t;
    cpu->handoff_front = 0;
    if (!current || t->priority > current->priority || others_may_run(cpu, t)) {
        cpu->resched = 1;
    } else if (t->priority == current->priority) {
        quantum_check(cpu, current);
    }
}

void sched_service_request(uint8_t priority)
{
    struct cpu *cpu = arch_cpu();

    kernel_assert(kernel_locked());
    if (service.state == STATE_READY && service.priority == priority) {
        return;
    }
    if (service.state == STATE_READY) {
        queue_remove(&service);
        service.state = STATE_STOPPED;
    }
    if (priority == 0) {
        return;
    }
    service.priority = priority;
    service.state = STATE_READY;
    queue_insert(&service, true);
    if (!cpu->current || priority > cpu->current->priority || several_cpus()) {
        cpu->resched = 1;
    }
}

void sched_unready(struct thread *t)
{
    kernel_assert(kernel_locked());
    kernel_assert(t->state == STATE_READY);
    struct cpu *cpu = handoff_of(t);
    if (cpu) {
        cpu->handoff = NULL;
    } else {
        queue_remove(t);
    }
}

static __attribute__((noinline)) void wake_any(struct thread *t)
{
    kernel_assert(t->state > STATE_READY && !(t->timeout_states & ~TIMEOUT_STATE_HELD));
    if (t->flags & THREAD_HELD) {
        thread_set_state(t, STATE_STOPPED);
        return;
    }
    thread_set_state(t, STATE_READY);
    sched_ready(t);
}

/* Fast path of a wake: this CPU will switch to the thread, or needs no switch. All calls are tail
 * calls, so no registers are saved. */
static inline void sched_wake(struct thread *t)
{
    kernel_assert(kernel_locked());
    kernel_assert(t->state > STATE_READY && t->proc);
    struct cpu *cpu = arch_cpu();
    if (unlikely(t->timeout_states)) {
        timeout_disarm(t);
    }
    if (unlikely(t->timeout_states || cpu->handoff)) {
        wake_any(t);
        return;
    }
    const struct thread *current = cpu->current;
    if (!current || t->priority > current->priority || others_may_run(cpu, t)) {
        cpu->resched = 1;
    } else if (t->priority == current->priority) {
        wake_any(t);
        return;
    }
    cpu->handoff = t;
    cpu->handoff_front = 0;
    thread_set_state(t, STATE_READY);
}

void thread_wake_set(struct thread *t)
{
    sched_wake(t);
}

void thread_wake(struct thread *t, long value, int error)
{
    thread_result(t, value, error);
    sched_wake(t);
}

void thread_start(struct thread *t)
{
    sched_wake(t);
}

/* ---- rebalancing: READY threads that this CPU doesn't run -------------------------- */

/*
 * Returns the priority that a thread must exceed to concern this CPU: that of its running thread,
 * or one less if that thread should share the CPU with its equals and the CPU has not been notified
 * yet (see quantum_check).
 */
static inline int cpu_threshold(const struct cpu *cpu)
{
    const struct thread *t = cpu->current;

    if (!t) {
        return -1;
    }
    return t->priority - (t->policy != SCHED_FIFO && cpu->quantum_end == UINT64_MAX);
}

/* Returns the lowest threshold of these CPUs. Bounded by CONFIG_CPUS. */
static int lowest_threshold(uint32_t mask)
{
    int lowest = PRIORITIES;

    for (; mask; mask &= mask - 1) {
        int threshold = cpu_threshold(&cpus[__builtin_ctz(mask)]);
        lowest = threshold < lowest ? threshold : lowest;
    }
    return lowest;
}

/* Returns the CPU of these that should run t: its previous one if idle, else another idle one, else
 * the one with the lowest threshold below t's priority; or NULL. */
static struct cpu *cpu_for(const struct thread *t, uint32_t mask)
{
    struct cpu *best = NULL;
    int lowest = t->priority;

    mask &= t->runmask;
    if (mask & sched.idle_cpus) {
        mask &= sched.idle_cpus;
        return &cpus[mask >> t->cpu & 1 ? t->cpu : (unsigned)__builtin_ctz(mask)];
    }
    for (; mask; mask &= mask - 1) {
        struct cpu *cpu = &cpus[__builtin_ctz(mask)];
        if (cpu_threshold(cpu) < lowest) {
            lowest = cpu_threshold(cpu);
            best = cpu;
        }
    }
    return best;
}

/* Kicks the CPU of these that should run t, unless it was kicked and has not rescheduled yet.
 * Returns the CPUs left for other threads. */
static uint32_t kick_for(const struct thread *t, uint32_t mask)
{
    struct cpu *cpu;

    while ((cpu = cpu_for(t, mask))) { /* at most once for each CPU */
        mask &= ~(1u << cpu->id);
        if (!(cpu->trace.exit_work & WORK_RESCHED)) {
            cpu_request(cpu, WORK_RESCHED);
            break;
        }
    }
    return mask;
}

void sched_kick_others(struct cpu *self)
{
    kernel_assert(kernel_locked());
    kernel_assert(self == arch_cpu());
    queue_handoff(self);
    uint32_t mask = CONFIG_CPUS > 1 ? cpus_online & ~(1u << self->id) : 0;
    struct thread *t = sched.above ? ready_first() : NULL;

    while (mask && t && ((mask & sched.idle_cpus) || t->priority > lowest_threshold(mask))) {
        mask = kick_for(t, mask);
        t = queue_after(t);
    }
}

/* ---- the switch, and the quantum --------------------------------------------------- */

static __attribute__((noinline)) void idle_leave(struct cpu *cpu)
{
    kernel_assert(cpu->idle->state == STATE_RUNNING);
    sched.idle_cpus &= ~(1u << cpu->id);
    thread_set_state(cpu->idle, STATE_READY);
}

/* Also without prev, if prev has ended: the CPU still uses the address space of prev's process,
 * whose tables another CPU frees as soon as it gets the lock. */
static __attribute__((noinline)) void idle_enter(struct cpu *cpu, struct thread *prev)
{
    kernel_assert(!is_idle(cpu) && cpu->idle->state == STATE_READY);
    sched.idle_cpus |= 1u << cpu->id;
    thread_set_running(cpu->idle, prev);
    arch_switch(prev, NULL);
}

/* Switches in any case: either thread may be NULL (idle), or both the same. */
static void switch_any(struct cpu *cpu, struct thread *prev, struct thread *next)
{
    uint64_t now = arch_cycles(), ran = now - cpu->since;

    if (prev && next && prev != next) {
        switch_between(cpu, prev, next, prev->state != STATE_READY);
        quantum_check(cpu, next);
        return;
    }
    cpu->since = now;
    if (prev) {
        prev->run_cycles += ran;
        slice_begin(prev);
    } else if (is_idle(cpu)) {
        cpu->idle->run_cycles += ran;
        idle_leave(cpu); /* as the running thread: a probe sees next */
    }
    cpu->current = next;
    if (!next) {
        idle_enter(cpu, prev);
        return;
    }
    next->cpu = (uint8_t)cpu->id;
    thread_set_running(next, prev);
    if (!prev) {
        arch_switch(NULL, next);
    }
    quantum_check(cpu, next);
}

/* Moves a handoff thread that may run on only one other CPU, which is idle, to that CPU. */
static inline void handoff_give(struct cpu *cpu)
{
    struct thread *t = cpu->handoff;
    uint32_t mask = t ? t->runmask & sched.several : 0;
    if (!(mask & sched.idle_cpus & ~cpu->bit) || (mask & (mask - 1)) != 0) {
        return;
    }
    struct cpu *to = &cpus[__builtin_ctz(mask)];
    if (!to->handoff && t->priority >= sched.above) {
        to->handoff = t;
        to->handoff_front = 1;
        cpu->handoff = NULL;
        cpu_request(to, WORK_RESCHED);
    }
}

/* Returns the queued thread that this CPU should run first, or NULL. The queues aren't empty. */
static __attribute__((noinline)) struct thread *queue_best(const struct cpu *cpu)
{
    struct thread *t = ready_first();

    for (; t && !runs_on(t, cpu); t = queue_after(t)) {
    }
    return t;
}

/* Returns the READY thread that this CPU should run first, or NULL. take: also dequeues it. */
static inline struct thread *sched_best(struct cpu *cpu, bool take)
{
    struct thread *next = cpu->handoff;
    if (take && next && next->priority >= sched.above && runs_on(next, cpu)) {
        cpu->handoff = NULL; /* it is above all queued threads */
        return next;
    }
    if (next) {
        queue_handoff(cpu);
    }
    next = sched.above ? queue_best(cpu) : NULL;
    if (take && next) {
        queue_remove(next);
    }
    return next;
}

struct thread *sched_switch_any(struct cpu *cpu, struct thread *self)
{
    bool running = self && self->state == STATE_RUNNING;

    kernel_assert(kernel_locked());
    kernel_assert(cpu == arch_cpu() && self == cpu->current);
    /* each CPU calls this function first */
    sched.several = cpus_online & (cpus_online - 1) ? cpus_online : 0;
    if (CONFIG_CPUS > 1) {
        handoff_give(cpu);
    }
    struct thread *next = sched_best(cpu, !running);
    kernel_assert(!next || next->state == STATE_READY);

    cpu->resched = 0;
    if (running && runs_on(self, cpu) && (!next || next->priority <= self->priority)) {
        trace_site_cpu_remain((uint32_t)self->pid, (uint32_t)self->tid, self->priority);
        quantum_check(cpu, self);
        sched_kick_rest(cpu);
        return self;
    }
    if (running) {
        sched_preempt(cpu, self);
        if (next) {
            queue_remove(next);
        }
    }
    if (next == &service) {
        service.state = STATE_STOPPED;
        cpu_request(cpu, WORK_SERVICE);
        next = NULL;
    }
    if (next || self || !is_idle(cpu)) {
        switch_any(cpu, self, next);
    }
    sched_kick_rest(cpu);
    return next;
}

/* Moves t, RUNNING on this CPU, after the threads of its priority, with a fresh quantum. */
static void sched_rotate(struct cpu *cpu, struct thread *t)
{
    uint64_t now = arch_cycles();

    kernel_assert(t == cpu->current && t->state == STATE_RUNNING);
    t->run_cycles += now - cpu->since;
    cpu->since = now;
    slice_begin(t);
    kercall_trace_preempted(t);
    thread_set_state(t, STATE_READY);
    queue_handoff(cpu);
    cpu->handoff = t;
    cpu->handoff_front = 0;
    cpu->resched = 1;
}

void sched_give_way(struct thread *t)
{
    kernel_assert(kernel_locked());
    if (t->state == STATE_RUNNING && has_equal(arch_cpu(), t)) {
        sched_rotate(arch_cpu(), t);
    }
}

/* Returns the thread that sched_switch() would choose if self moved after its equals, provided that
 * it is the first of them and nothing else has to be done; otherwise NULL. */
static inline struct thread *yield_next(const struct cpu *cpu, const struct thread *self)
{
    const struct list *first = ready_of(self->priority);

    if (!first || cpu->handoff || sched.above != self->priority + 1u) {
        return NULL;
    }
    if (cpu->trace.exit_work | cpu->resched) {
        return NULL;
    }
    struct thread *next = list_entry(first, struct thread, ready);
    return next != &service && runs_on(next, cpu) ? next : NULL;
}

long sched_give_way_now(struct thread *self)
{
    struct cpu *cpu = arch_cpu();
    struct thread *next = yield_next(cpu, self);

    kernel_assert(kernel_locked());
    kernel_assert(self == cpu->current && self->state == STATE_RUNNING);
    if (!next) {
        sched_give_way(self);
        return 0;
    }
    thread_result(self, 0, 0);
    thread_set_state(self, STATE_READY);
    ready_turn(next, self);
    switch_between(cpu, self, next, true);
    quantum_begin(cpu, next);
    sched_kick_rest(cpu);
    return KER_STATUS;
}

void sched_quantum(struct cpu *cpu)
{
    struct thread *t = cpu->current;
    uint64_t now = arch_cycles();

    kernel_assert(kernel_locked());
    kernel_assert(cpu == arch_cpu());
    if (now < cpu->quantum_end) {
        return;
    }
    cpu->quantum_end = UINT64_MAX;
    if (!t || t->state != STATE_RUNNING || t->policy == SCHED_FIFO || !has_equal(cpu, t)) {
        return;
    }
    uint32_t used = slice_used(t) + (uint32_t)(now - cpu->since);
    if (used >= sched.quantum) {
        trace_site_quantum_done((uint32_t)t->pid, (uint32_t)t->tid, t->priority);
        sched_rotate(cpu, t);
    } else {
        cpu->quantum_end = now + (sched.quantum - used);
    }
}

void sched_changed(struct thread *t)
{
    struct cpu *here = arch_cpu();

    kernel_assert(kernel_locked());
    here->resched = 1;
    if (t->state == STATE_RUNNING && t->cpu != here->id) {
        cpu_request(&cpus[t->cpu], WORK_RESCHED);
    }
}

uint64_t thread_run_cycles(const struct thread *t)
{
    bool runs = t->state == STATE_RUNNING;

    return t->run_cycles + (runs ? arch_cycles() - cpus[t->cpu].since : 0);
}
