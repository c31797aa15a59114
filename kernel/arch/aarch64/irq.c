/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interrupts of this CPU: taken from the controller until none is pending, each handed to its
 * first part. Interrupts masked; the lock may or may not be held (first parts take none).
 */
#include "kernel/arch/aarch64/port.h"

static void irq_serve(uintptr_t ip, bool in_kernel)
{
    uint32_t token;

    while ((token = a64_board_irq_take()) != A64_IRQ_NONE) {
        unsigned irq = a64_board_irq_number(token);

        if (irq == a64_board_irq_timer()) {
            a64_timer_quiet();
            intr_timer(irq, ip, in_kernel);
        } else if (irq == a64_board_irq_ipi()) {
            intr_ipi(irq, ip, in_kernel);
        } else {
            intr_entry(irq, ip, in_kernel);
        }
        a64_board_irq_end(token);
    }
    a64_isb(); /* an idle CPU has no exception return: text may have been patched meanwhile */
}

struct thread *a64_irq_from_user(struct thread *self)
{
    irq_serve(a64_context(self)->elr, false);
    return kernel_exit(self);
}

/* A request made after the test sends an interrupt, which is then pending and ends the wfi, masked
 * or not: no wake-up is lost. */
void arch_wait_for_interrupt(struct cpu *cpu)
{
    if (!kernel_work_pending(cpu)) {
        a64_dsb(sy);
        __asm__ volatile("wfi" ::: "memory");
    }
    irq_serve(0, false);
}

void arch_irq_window(void)
{
    irq_serve((uintptr_t)__builtin_return_address(0), true);
}
