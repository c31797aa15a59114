/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ARMv7-M: the NVIC's lines, and waiting for them. Any context unless kernel/arch/irq.h says
 * otherwise. All lines have one priority, above the kernel's, so their first parts do not nest.
 */
#include "kernel/arch/armv7m/private.h"
#include "kernel/arch/armv7m/scb.h"
#include "kernel/arch/assert.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/irq.h"

/*
 * A level-triggered line that was masked in its own handler was pended again at the handler's end,
 * although its device may have been served since: that stale bit would be a spurious interrupt.
 * Clearing it loses nothing: a line that is still high pends again at once.
 */
void arch_irq_unmask(unsigned irq)
{
    uint32_t bit = 1u << (irq % 32);
    if (CONFIG_IRQ_LEVEL & bit) {
        NVIC_ICPR(irq / 32) = bit;
    }
    NVIC_ISER(irq / 32) = bit;
}

/*
 * wfi only waits; interrupts are taken when they are unmasked at the end, so none is taken between
 * the check for work and the wait. The caller then does the work they queued.
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
