/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ARMv7-M: the counter of cycles, CYCCNT, where the CPU has one. It has 32 bits, no overflow flag
 * and no interrupt, so it can't serve the provider cpc, and this file keeps the upper half: each
 * reading adds the count since the previous one, modulo 2^32. Tested by
 * test/kernel/arch/armv7m/dwt_test.c and test/board/counters.py.
 */
#include "kernel/arch/armv7m/count/dwt.h"
#include "kernel/arch/assert.h"
#include "kernel/arch/count.h"

static uint64_t counted; /* [c] at the previous reading; its lower half is CYCCNT's value then */

const char *arch_count_name(unsigned event)
{
    return event == ARCH_COUNT_CYCLES ? "cycles" : NULL;
}

/* The unit stays on: a debugger may use it, too. */
bool arch_count_has(unsigned event)
{
    dwt_write(DEMCR, dwt_read(DEMCR) | DEMCR_TRCENA);
    return event == ARCH_COUNT_CYCLES && (dwt_read(DEMCR) & DEMCR_TRCENA) &&
           !(dwt_read(DWT_CTRL) & DWT_CTRL_NOCYCCNT);
}

unsigned arch_count_counters(void)
{
    return 0;
}

bool arch_count_interrupts(void)
{
    return false;
}

/* The counter can't distinguish programs from the kernel. */
void arch_count_set(unsigned n, unsigned event, unsigned modes)
{
    kernel_assert(n == ARCH_COUNT_CYCLE &&
                  (modes == 0 || modes == (ARCH_COUNT_USER | ARCH_COUNT_KERNEL)));
    (void)n;
    (void)event;
    dwt_write(DEMCR, dwt_read(DEMCR) | DEMCR_TRCENA);
    uint32_t control = dwt_read(DWT_CTRL) & ~DWT_CTRL_CYCCNTENA;
    dwt_write(DWT_CTRL, control);
    if (modes) {
        dwt_write(DWT_CYCCNT, 0);
        counted = 0;
        dwt_write(DWT_CTRL, control | DWT_CTRL_CYCCNTENA);
    }
}

uint64_t arch_count_read(unsigned n, bool *over)
{
    (void)n;
    *over = false;
    counted += (uint32_t)(dwt_read(DWT_CYCCNT) - (uint32_t)counted);
    return counted;
}

/* For event counters, of which there are none. */
void arch_count_write(unsigned n, uint32_t value)
{
    kernel_assert(n < arch_count_counters());
    (void)n;
    (void)value;
}

void arch_count_open(uint32_t counters)
{
    kernel_assert(counters == 0);
    (void)counters;
}
