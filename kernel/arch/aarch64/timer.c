/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The generic timer: each CPU's virtual timer is the one-shot timer, the system counter the trace
 * clock. All CPUs read one counter, so the clocks of two CPUs never differ by more than one tick,
 * the distance between two reads. Any context; own CPU.
 */
#include "kernel/arch/aarch64/port.h"
#include "kernel/arch/irq.h"

#define CTL_ENABLE 1
#define CTL_IMASK 2

void arch_timer_set(uint64_t cycles)
{
    if (cycles == UINT64_MAX) {
        a64_write_sysreg(cntv_ctl_el0, 0);
        return;
    }
    a64_write_sysreg(cntv_cval_el0, cycles);
    a64_write_sysreg(cntv_ctl_el0, CTL_ENABLE);
    a64_isb();
}

/* The interrupt is level-triggered: unless it is deasserted by this function, it would be taken
 * again before the kernel's exit has set the next time. */
void a64_timer_quiet(void)
{
    a64_write_sysreg(cntv_ctl_el0, CTL_ENABLE | CTL_IMASK);
    a64_isb();
}

uint64_t arch_clock_hz(void)
{
    return a64_read_sysreg(cntfrq_el0);
}

uint64_t arch_clock_skew(void)
{
    return 1;
}
