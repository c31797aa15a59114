/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interrupts of this CPU: acknowledged at the controller, then passed to their first parts.
 * Interrupts masked; the lock may or may not be held (first parts take none).
 */
#include "kernel/arch/aarch64/port.h"
#include "kernel/arch/assert.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/irq.h"

#define ISR_IRQ 0x80 /* an interrupt is pending at this CPU's interface */

static unsigned timer, ipi, sampled; /* [I] */

void a64_irq_init(void)
{
    a64_board_irq_init();
    timer = a64_board_irq_timer();
    ipi = a64_board_irq_ipi();
    sampled = a64_board_irq_sampled();
}

/* Handles an FIQ (sample.c) that became the highest-priority one between this CPU's IRQ and its
 * acknowledgement: it will not be taken as an FIQ any more. The stack of such a sample ends at its
 * first frame. */
static __attribute__((noinline)) void sample_here(unsigned irq, uintptr_t ip, bool in_kernel)
{
    bool program = ip && !in_kernel;

    arch_sample_taken(irq, ip ? ip : (uintptr_t)arch_wait_for_interrupt, 0,
                      program ? NULL : __builtin_frame_address(0));
    intr_sample(irq, ip, in_kernel);
}

static inline bool irq_serve(uintptr_t ip, bool in_kernel)
{
    kernel_assert(a64_irq_masked());
    struct a64_irq irq = a64_board_irq_take();

    if (irq.number == A64_IRQ_NONE) {
        return false;
    }
    if (irq.number == timer) {
        a64_timer_quiet();
        intr_timer(irq.number, ip, in_kernel);
    } else if (irq.number == ipi) {
        intr_ipi(irq.number, ip, in_kernel);
    } else if (irq.number == sampled) {
        intr_sample(irq.number, ip, in_kernel);
    } else if (a64_board_irq_is_fiq(irq.number)) {
        sample_here(irq.number, ip, in_kernel);
    } else {
        intr_entry(irq.number, ip, in_kernel);
    }
    a64_board_irq_end(irq.token);
    return true;
}

/* No code records this state: only D needs it, and the controller has it. */
bool arch_in_interrupt(void)
{
    return a64_board_irq_taken();
}

/* Serves all pending interrupts. */
static void irq_serve_all(uintptr_t ip, bool in_kernel)
{
    while (irq_serve(ip, in_kernel)) {
    }
    a64_isb(); /* an idle CPU has no exception return: text may have been patched meanwhile */
}

/* Serves one interrupt: if more are pending, the resumed thread is interrupted at once. */
struct thread *a64_irq_from_user(struct thread *self)
{
    irq_serve(a64_context(self)->elr, false);
    return kernel_exit(self);
}

/* A request made after the test sends an interrupt. The interrupt is then pending and ends the wfi,
 * masked or not, so no wake-up is lost. */
void arch_wait_for_interrupt(struct cpu *cpu)
{
    kernel_assert(a64_irq_masked());
    kernel_assert(a64_read_sysreg(ttbr0_el1) == a64_empty_ttbr0);
    if (!kernel_work_pending(cpu)) {
        a64_dsb(sy);
        __asm__ volatile("wfi" ::: "memory");
    }
    irq_serve_all(0, false);
}

void arch_irq_window(void)
{
    kernel_assert(a64_irq_masked());
    if (a64_read_sysreg(isr_el1) & ISR_IRQ) {
        irq_serve_all((uintptr_t)__builtin_return_address(0), true);
    }
}

void a64_stop(void)
{
    for (;;) {
        __asm__ volatile("wfi");
    }
}
