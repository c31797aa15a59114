/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's exit: does the work left by interrupts and other CPUs, gives the CPU to the thread
 * that should have it, continues partly executed calls (KER_AGAIN), and idles. Called by the ports
 * after interrupts (kernel_exit) and by the other exit paths.
 *
 * Where interrupts are enabled in the kernel, one that is taken after the last check of
 * cpu->trace.exit_work makes the port call this again; where they are masked, it stays pending and
 * is taken as soon as the thread runs.
 */
#include "abi/compiler.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/irq.h"
#include "kernel/entry/crash.h"
#include "kernel/entry/exit.h"

#include "kernel/dtrace/dtrace.h"
#include "kernel/intr/intr.h"
#include "kernel/entry/entry.h"
#include "kernel/observe/observe.h"
#include "kernel/proc/proc.h"
#include "kernel/thread/sched.h"
#include "kernel/thread/thread.h"
#include "trace/interrupt.h"
#include "trace/trace.h"
#include "kernel/base/cpu.h"

/* Ends or stops the thread that runs on this CPU, on behalf of another CPU. */
static __attribute__((noinline)) void end_or_stop(struct cpu *cpu)
{
    kernel_assert(kernel_locked());
    struct thread *t = cpu->current;

    if (t && (t->flags & THREAD_DYING)) {
        thread_end_here(t);
    } else if (t) {
        thread_stop_here(t);
    }
}

static __attribute__((noinline)) void other_work(struct cpu *cpu, uint32_t work)
{
    kernel_assert(kernel_locked() && cpu == arch_cpu());
    if (work & WORK_SAMPLE) {
        dtrace_sample_now(cpu);
    }
    if (work & WORK_TIMER) {
        sched_quantum(cpu);
        timer_work(cpu);
        if (cpu->timer_came) {
            intr_timer_done(cpu);
        }
    }
    if (work & WORK_SERVICE) {
        timer_service();
    }
    if (work & WORK_RAISE) {
        dtrace_raise_now(cpu);
    }
    if (work & WORK_RESCHED) {
        cpu->resched = 1;
        end_or_stop(cpu);
    }
    if (work & WORK_TRACE) { /* last: it may let in CPUs that wait for the lock */
        trace_kernel_exit();
        if (trace_interrupt_waits()) {
            long_call_hurry();
        }
    }
}

/* Does the pending work: interrupts first, because they cause the other work. */
static inline void do_work(struct cpu *cpu)
{
    uint32_t work = __atomic_exchange_n(&cpu->trace.exit_work, 0,
                                        CONFIG_CPUS > 1 ? __ATOMIC_ACQ_REL : __ATOMIC_RELAXED);

    if (work & WORK_INTR) {
        intr_deliver(cpu);
    }
    if (work & ~WORK_INTR) {
        other_work(cpu, work);
    }
}

/* Passes a preemption point of a long call, then executes its next part. */
static __attribute__((noinline)) void call_again(struct thread *t)
{
    kernel_assert(t->state == STATE_RUNNING && t->flags & THREAD_AGAIN);
    t->flags &= (uint8_t)~THREAD_AGAIN;
    long result = t->proc->ender == t           ? process_end_step(t)
                  : thread_loses(t)             ? thread_end_step(t)
                  : t->call != THREAD_CALL_NONE ? kercall_invoke(t)
                  : t->proc == kernel_process   ? crash_step(t)
                                                : fault_continue(t);
    if (result == KER_GONE) {
        return;
    }
    /* its end had to finish this part */
    if (unlikely((t->flags & THREAD_DYING) && result != KER_AGAIN)) {
        t->step = 0;
        thread_end_here(t);
        return;
    }
    /* otherwise it blocked, and continues */
    if (result != KER_AGAIN && !(t->flags & THREAD_AGAIN)) {
        t->step = 0;
    }
    if (result > KER_BLOCKED) {
        kercall_finish(t, result);
    } else {
        kercall_special(t, result);
    }
}

/* Traces that the thread's wait was aborted. The call then ends or continues as it would have
 * without the trace. */
static __attribute__((noinline)) void exit_aborted_wait(struct thread *t)
{
    kernel_assert(t->state == STATE_RUNNING && t->flags & THREAD_ABORTED);
    t->flags &= (uint8_t)~THREAD_ABORTED;
    if (t->step == 0) {
        t->flags &= (uint8_t)~THREAD_AGAIN;
    }
    kercall_trace_aborted(t);
    if (t->proc->ender == t || thread_loses(t)) {
        t->call = THREAD_CALL_NONE;
    }
}

/* Preemption point between two parts of a long call: lets in interrupts, and CPUs that wait for the
 * lock. */
static __attribute__((noinline)) void exit_preemption_point(void)
{
    kernel_assert(kernel_locked());
    arch_irq_window();
    if (kernel_lock_wanted()) {
        kernel_lock_pass();
    }
}

static __attribute__((noinline)) void exit_idle(struct cpu *cpu)
{
    kernel_assert(!cpu->current && cpu->idle->state == STATE_RUNNING);
    kernel_unlock();
    arch_wait_for_interrupt(cpu);
    kernel_lock();
}

/* Gives the CPU to the thread that should have it. */
static inline struct thread *exit_choose(struct cpu *cpu)
{
    struct thread *t = cpu->current;

    if (cpu->trace.exit_work) {
        do_work(cpu);
        t = cpu->current;
    }
    return cpu->resched || !t ? sched_switch(cpu, t) : t;
}

/* Slow path: no thread could be resumed at once. t is in a long call, or NULL. */
static __attribute__((noinline)) void go_on(struct cpu *cpu, struct thread *t)
{
    if (!t) {
        exit_idle(cpu);
        return;
    }
    if (t->flags & THREAD_ABORTED) {
        exit_aborted_wait(t);
        return;
    }
    exit_preemption_point();
    if (exit_choose(cpu) == t && (t->flags & THREAD_AGAIN)) {
        call_again(t);
    }
}

static inline struct thread *exit_leave(struct cpu *cpu)
{
    for (;;) {
        struct thread *t = exit_choose(cpu);

        if (unlikely(!t || (t->flags & THREAD_AGAIN))) {
            go_on(cpu, t);
            continue;
        }
        if (TRACE_PORT_SITE_ON(TRACE_EV_kercall_exit)) {
            kercall_trace_exit(t);
        }
        if (!(cpu->trace.exit_work | cpu->resched)) {
            kernel_assert(t == cpu->current && t->state == STATE_RUNNING);
            kernel_debug(kernel_check_sometimes());
            kernel_unlock();
            return exit_to(t);
        }
    }
}

struct thread *exit_locked(struct cpu *cpu)
{
    kernel_assert(kernel_locked());
    kernel_assert(cpu == arch_cpu());
    return exit_leave(cpu);
}

struct thread *exit_idle_first(struct cpu *cpu)
{
    kernel_assert(kernel_locked());
    kernel_assert(cpu == arch_cpu() && !cpu->current);
    exit_idle(cpu);
    return exit_leave(cpu);
}

struct thread *kernel_exit(struct thread *self)
{
    struct cpu *cpu = arch_cpu();

    kernel_assert(self == cpu->current);
    if (self) {
        if (!(cpu->trace.exit_work | cpu->resched)) {
            return exit_to(self);
        }
        self->call = THREAD_CALL_NONE; /* it was interrupted in user mode */
    }
    kernel_lock();
    return exit_leave(cpu);
}
