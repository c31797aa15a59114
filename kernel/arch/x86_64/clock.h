/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rate of the time-stamp counter: as CPUID states it, and as measured. Tested by
 * test/kernel/arch/x86_64/clock_test.c.
 */
#ifndef KERNEL_ARCH_X86_64_CLOCK_H
#define KERNEL_ARCH_X86_64_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define CLOCK_AGREE 512 /* two measurements differ by at most this part of them */

static inline bool x86_clocks_agree(uint64_t a, uint64_t b)
{
    return (a > b ? a - b : b - a) <= a / CLOCK_AGREE;
}

/* Returns the rate by CPUID's leaf 15h, which is that of a crystal times a fraction, or 0 if a part
 * of it isn't stated. */
static inline uint64_t x86_clock_stated(const uint32_t leaf[4])
{
    enum { DENOMINATOR, NUMERATOR, CRYSTAL_HZ };

    return leaf[DENOMINATOR] ? (uint64_t)leaf[CRYSTAL_HZ] * leaf[NUMERATOR] / leaf[DENOMINATOR] : 0;
}

/* Returns the rate to use. The rate that CPUID states is exact, but may be another machine's if an
 * emulator only copies it: it is used if the measurement agrees. */
static inline uint64_t x86_clock_choose(uint64_t measured, uint64_t stated)
{
    return x86_clocks_agree(measured, stated) ? stated : measured;
}

#endif
