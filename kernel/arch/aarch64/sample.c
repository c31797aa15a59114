/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * AArch64: the sampling interrupt, which is the physical timer's, as FIQ, and the overflow of the
 * counters (count/). FIQ stays enabled where the kernel masks interrupts (vectors.S), so the
 * handler must leave all kernel state unchanged: it records (kernel_sample(), kernel_counted()) and
 * raises a software interrupt, whose handler, intr_sample(), requests the kernel's exit. eret
 * clears the exclusive monitor, so an interrupted LDXR/STXR pair is retried. The handler calls
 * nothing that is patched while CPUs run. Tested by test/board/samples.py.
 */
#include "kernel/arch/aarch64/port.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/irq.h"

#define CTL_ENABLE 1
#define CTL_IMASK 2

static void fiq_open(void)
{
    __asm__ volatile("msr daifclr, #1" ::: "memory");
}

static uintptr_t stack_top(const uintptr_t *stack)
{
    const size_t bytes = sizeof(a64_stacks[0]);
    uintptr_t first = (uintptr_t)a64_stacks;

    return first + ((uintptr_t)stack - first + bytes - 1) / bytes * bytes;
}

void arch_sample_taken(unsigned irq, uintptr_t ip, uintptr_t lr, const uintptr_t *stack)
{
    unsigned words = stack ? (unsigned)((stack_top(stack) - (uintptr_t)stack) / 8) : 0;

    if (irq == a64_board_irq_count()) {
        a64_count_taken(ip, lr, stack, words);
        return;
    }
    a64_write_sysreg(cntp_ctl_el0, CTL_ENABLE | CTL_IMASK);
    a64_isb();
    kernel_sample(ip, lr, stack, words);
}

void a64_fiq_from_kernel(uintptr_t ip, const uintptr_t *stack)
{
    uint32_t token;
    unsigned irq = a64_board_fiq_take(&token);

    if (irq != A64_IRQ_NONE) {
        /* a64_fiq_in_kernel has saved x30 at this offset. */
        const uintptr_t *saved = stack - A64_FIQ_FRAME / 8;
        arch_sample_taken(irq, ip, saved[A64_FIQ_X30 / 8], stack);
        a64_board_irq_end(token);
        a64_board_sampled_raise();
    }
}

/* The kernel's exit follows in any case, so no further interrupt is needed. */
struct thread *a64_fiq_from_user(struct thread *self)
{
    uint32_t token;
    unsigned irq = a64_board_fiq_take(&token);

    if (irq != A64_IRQ_NONE) {
        uintptr_t ip = a64_context(self)->elr;
        arch_sample_taken(irq, ip, 0, NULL);
        intr_sample(irq, ip, false);
        a64_board_irq_end(token);
    }
    fiq_open();
    return kernel_exit(self);
}

bool arch_sample_able(void)
{
    return a64_board_irq_sample() != A64_IRQ_NONE;
}

/* The trace clock is the virtual counter; the two differ by a constant. */
void arch_sample_set(uint64_t cycles)
{
    if (cycles == UINT64_MAX) {
        a64_write_sysreg(cntp_ctl_el0, 0);
        return;
    }
    uint64_t ahead = a64_read_sysreg(cntpct_el0) - a64_read_sysreg(cntvct_el0);
    a64_write_sysreg(cntp_cval_el0, cycles + ahead);
    a64_write_sysreg(cntp_ctl_el0, CTL_ENABLE);
    a64_isb();
}

void a64_sample_cpu_init(void)
{
    a64_write_sysreg(cntp_ctl_el0, 0);
    fiq_open();
}
