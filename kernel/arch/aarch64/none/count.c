/* SPDX-License-Identifier: BSD-2-Clause */
/* AArch64 in a kernel without D's counters (kernel/arch/count.h): turns off counters that firmware
 * has left on, and denies them to programs. */
#include "kernel/arch/aarch64/port.h"

void a64_count_cpu_init(void)
{
    unsigned version = a64_read_sysreg(id_aa64dfr0_el1) >> 8 & 15;

    if (version != 0 && version != 15) {
        a64_write_sysreg(pmuserenr_el0, 0);
        a64_write_sysreg(pmcr_el0, 0);
        a64_write_sysreg(pmintenclr_el1, 0xffffffff);
    }
}

void a64_count_taken(uintptr_t ip, uintptr_t lr, const uintptr_t *stack, unsigned words)
{
    (void)ip;
    (void)lr;
    (void)stack;
    (void)words;
}
