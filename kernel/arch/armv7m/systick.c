/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ARMv7-M: SysTick as the kernel's one-shot timer. It has 24 bits and always runs: when nothing is
 * due within its range, the interrupt is not an event of the kernel and only keeps the 64-bit trace
 * clock from missing a wrap of its 32-bit counter.
 */
#include "kernel/arch/armv7m/private.h"
#include "kernel/arch/armv7m/scb.h"
#include "kernel/arch/assert.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/irq.h"

#define TICKS_PER_CYCLE (CONFIG_SYSTICK_HZ / CONFIG_CLOCK_HZ)
#define REACH (SYST_MAX / TICKS_PER_CYCLE) /* in cycles of the trace clock */
_Static_assert(TICKS_PER_CYCLE >= 1 && CONFIG_SYSTICK_HZ % CONFIG_CLOCK_HZ == 0,
               "SysTick counts whole fractions of the trace clock");

#define CLOCK_PART_SHIFT 30 /* the trace log gets the time at each quarter of a wrap */

static uint64_t timer_at = UINT64_MAX; /* [c] interrupts masked */
static uint32_t clock_part;            /* [c] the quarter last reported to the log */

static void systick_run(uint32_t ticks)
{
    SYST_RVR = ticks;
    SYST_CVR = 0; /* any write reloads */
}

/* Called with interrupts masked. */
static void systick_arm(uint64_t now)
{
    kernel_assert(armv7m_irq_masked());
    if (timer_at <= now) {
        ICSR = ICSR_PENDSTSET;
    } else if (timer_at - now < REACH) {
        systick_run((uint32_t)(timer_at - now) * TICKS_PER_CYCLE);
    } else {
        systick_run(SYST_MAX);
    }
}

void arch_timer_set(uint64_t cycles)
{
    uintptr_t state = arch_irq_save();
    timer_at = cycles;
    systick_arm(arch_cycles());
    arch_irq_restore(state);
}

static void clock_extend(uint64_t now)
{
    armv7m_port.clock_half = (uint32_t)(now >> 31);
    uint32_t part = (uint32_t)(now >> CLOCK_PART_SHIFT);
    if (part != clock_part) {
        clock_part = part;
        uintptr_t state = arch_irq_save();
        kernel_clock_extended();
        arch_irq_restore(state);
    }
}

/* Called by entry.S, at interrupt level. Stops a short period first: it must not expire again
 * before the kernel has set the next one. */
void armv7m_systick_entered(unsigned irq, uintptr_t ip, bool in_kernel)
{
    (void)irq;
    systick_run(SYST_MAX);
    kernel_stack_check();
    uint64_t now = arch_cycles();
    clock_extend(now);
    if (now < timer_at) {
        systick_arm(now);
        return;
    }
    timer_at = UINT64_MAX;
    intr_timer(IRQ_SYSTICK, ip, in_kernel);
}

void armv7m_systick_init(void)
{
    systick_run(SYST_MAX);
    SYST_CSR = SYST_CSR_RUN;
}

uint64_t arch_clock_hz(void)
{
    return CONFIG_CLOCK_HZ;
}

uint64_t arch_clock_skew(void)
{
    return 0;
}
