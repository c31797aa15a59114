/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ARMv7-M: the NVIC's lines, and waiting for interrupts. Any context unless kernel/arch/irq.h says
 * otherwise. All lines have one priority, above the kernel's, so their first parts do not nest.
 */
#include "kernel/arch/armv7m/private.h"
#include "kernel/arch/armv7m/scb.h"
#include "kernel/arch/assert.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/irq.h"

/* The level-triggered lines: one bit per line, one word for each 32 of them. */
static const uint32_t irq_level[] = {CONFIG_IRQ_LEVEL};
_Static_assert(sizeof(irq_level) / sizeof(*irq_level) == (CONFIG_IRQ_LINES + 31) / 32,
               "CONFIG_IRQ_LEVEL has a word for each 32 lines of CONFIG_IRQ_LINES");

/* A function probe is an exception of its own: then IPSR has that exception's number. */
bool arch_in_interrupt(void)
{
    uint32_t active = SHCSR & SHCSR_SYSTICKACT;

    for (unsigned n = 0; n < (CONFIG_IRQ_LINES + 31) / 32; n++) {
        active |= NVIC_IABR(n);
    }
    return active != 0;
}

unsigned arch_irq_count(void)
{
    return CONFIG_IRQ_LINES;
}

bool arch_irq_reserved(unsigned irq)
{
    return irq == CONFIG_SAMPLED_IRQ || irq == CONFIG_SAMPLE_IRQ || irq >= CONFIG_IRQ_LINES;
}

/*
 * A level-triggered line that was masked in its own handler was pended again at the handler's end,
 * although its device may have been served since: that stale bit would be a spurious interrupt.
 * Clearing it loses nothing: a line that is still high pends again at once.
 */
void arch_irq_unmask(unsigned irq)
{
    uint32_t bit = 1u << (irq % 32);
    kernel_assert(irq < CONFIG_IRQ_LINES);
    if (irq_level[irq / 32] & bit) {
        NVIC_ICPR(irq / 32) = bit;
    }
    NVIC_ISER(irq / 32) = bit;
}

/*
 * wfi only waits; interrupts are taken when they are unmasked at the end, so none is taken between
 * the check for work and the wait. The caller then does the work that they queued.
 */
void arch_wait_for_interrupt(struct cpu *cpu)
{
    kernel_assert(!armv7m_port.idle);
    __asm__ volatile("cpsid i" ::: "memory");
    armv7m_port.idle = 1;
    if (!kernel_work_pending(cpu)) {
        __asm__ volatile("dsb\n\twfi" ::: "memory");
    }
    __asm__ volatile("cpsie i\n\tisb" ::: "memory");
    armv7m_port.idle = 0;
    ICSR = ICSR_PENDSVCLR;
}

void arch_irq_window(void)
{
}
