/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Long calls: kernel calls that control the trace or D run on a stack of their own, so that they
 * can be left at any kernel_window(), at any call depth, and continued later. Kernel lock held.
 *
 * One at a time: it is the control lock of the trace and of D. A second caller waits (WAITCTX), and
 * the first one inherits its priority (call_lock.c). Between two windows the call is not preempted;
 * at a window its thread leaves the CPU and releases the lock if there is work for the kernel's
 * exit. Other threads can't change the data of such a call meanwhile, because they would do so by a
 * long call, too, as the end of a process does (long_call_at_end()). The thread stays on its CPU
 * until the call is over, because the functions on its stack may have kept that CPU's address.
 * Ending or holding the thread meanwhile waits for the end of the call. So does a START or STOP
 * that an interrupt has requested: the kernel's exit would patch sites that the call is patching
 * (trace/interrupt.c). While something waits so, the call runs above all programs without
 * abilities.
 *
 * There are no errors. Before the first thread runs, and in tests without a port, the window only
 * serves interrupts. Tested by test/kernel/thread/long_call_test.c, test/bench (latency_worst), and
 * by test/board's suites of the trace and of D.
 */
#include "kernel/thread/thread.h"
#include "kernel/arch/coroutine.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/irq.h"
#include "kernel/arch/panic.h"
#include "kernel/base/window.h"
#include "kernel/thread/sched.h"
#include "trace/interrupt.h"

#define FILL 0x6c6c6163u /* lowest word of the stack, to detect an overflow */

static struct {
    long_call_part *part; /* [k] */
    long result;          /* [k] */
    bool inside;          /* [k] the call's stack is in use by the CPU */
    bool over;            /* [k] the call has its result */
    uint32_t runmask;     /* [k] the owner's own run mask */
    uintptr_t kernel_sp;  /* [k] inside: stack pointer to continue with when the call is left */
    uintptr_t sp;         /* [k] otherwise: stack pointer to continue the call with */
} running;

static struct call_lock turn; /* its owner's call is in progress */

static volatile uint32_t *long_stack_low(void)
{
    uintptr_t low, high;

    arch_long_stack(&low, &high);
    return (uint32_t *)low;
}

/* Runs the call's function on its stack; never returns. */
static void long_call_main(void)
{
    for (;;) {
        running.result = running.part(turn.owner, turn.owner->args);
        running.over = true;
        running.inside = false;
        arch_coroutine_switch(&running.sp, running.kernel_sp);
    }
}

static void long_call_continue(void)
{
    kernel_assert(kernel_locked() && turn.owner && !running.inside && !running.over);
    running.inside = true;
    arch_coroutine_switch(&running.kernel_sp, running.sp);
    kernel_assert(!running.inside);
    if (*long_stack_low() != FILL) {
        kernel_panic("stack of a long call overflowed: call %u", (unsigned)turn.owner->call);
    }
}

static void long_call_begin(struct thread *self, long_call_part *part)
{
    uintptr_t low, high;

    arch_long_stack(&low, &high);
    *long_stack_low() = FILL;
    running.part = part;
    running.over = false;
    running.sp = arch_coroutine_begin(high, long_call_main);
    running.runmask = self->runmask;
    trace_interrupt_hold();
    if (CONFIG_CPUS > 1) {
        self->runmask = 1u << arch_cpu()->id;
    }
}

/* Ends the call: the next one may begin. */
static void long_call_end(void)
{
    turn.owner->runmask = running.runmask;
    trace_interrupt_release();
    call_lock_release(&turn);
}

long long_call(struct thread *self, long_call_part *part)
{
    kernel_assert(kernel_locked() && self == arch_cpu()->current);
    const bool begun = turn.owner == self;
    long result = call_lock_take(&turn, self);
    if (result) {
        self->step = LONG_CALL_STEP; /* in case it waits */
        return result;
    }
    if (!begun) {
        long_call_begin(self, part);
    }
    long_call_continue();
    if (running.over) {
        long_call_end();
        return running.result;
    }
    self->step = LONG_CALL_STEP;
    return KER_AGAIN;
}

void long_call_hurry(void)
{
    kernel_assert(kernel_locked());
    if (turn.owner) {
        thread_raise_call(turn.owner, PRIORITY_UNPRIVILEGED_MAX);
    }
}

bool long_call_pending(void)
{
    return turn.owner != NULL;
}

bool long_call_owns(const struct thread *t)
{
    return turn.owner == t;
}

bool long_call_at_end(struct thread *ender, long_call_part *part, bool needed)
{
    kernel_assert(kernel_locked());
    kernel_assert(ender || !needed);
    if (!needed && !long_call_begun(ender)) {
        return false;
    }
    long result = long_call(ender, part);
    if (result == KER_AGAIN || result == KER_BLOCKED) {
        return true;
    }
    ender->step = 1;
    return false;
}

/* Leaves the call if the kernel's exit has work, or if another CPU waits for the lock. */
static __attribute__((noinline)) void long_call_point(void)
{
    const struct cpu *cpu = arch_cpu();
    bool waited = CONFIG_CPUS > 1 && kernel_lock_wanted();

    if (cpu->trace.exit_work || cpu->resched || waited) {
        running.inside = false;
        arch_coroutine_switch(&running.sp, running.kernel_sp);
    }
}

void kernel_window(void)
{
    kernel_assert(kernel_locked());
    arch_irq_window();
    if (running.inside) {
        long_call_point();
    }
}
