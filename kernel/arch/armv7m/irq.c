/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ARMv7-M: the NVIC's lines, and waiting for them. Any context unless kernel/arch/arch.h says
 * otherwise. All lines have one priority, above the kernel: their first part does not nest.
 */
#include "kernel/arch/armv7m/private.h"
#include "kernel/arch/armv7m/scb.h"

/*
 * A level line that was masked in its own handler has been pended again at the handler's end,
 * although its device may have been served since: that stale bit would be a second interrupt.
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
 * Interrupts are taken when they are opened at the end, not in wfi: so none can come between the
 * look at the work and the wait. What they pended is what the caller does next.
 */
void arch_wait_for_interrupt(struct cpu *cpu)
{
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
