/* SPDX-License-Identifier: BSD-2-Clause */
/* D without counters of the CPU's events: see kernel/dtrace/count/count.h. */
#ifndef KERNEL_DTRACE_COUNT_H
#define KERNEL_DTRACE_COUNT_H

#include <stdint.h>

struct cpu;

#define DTRACE_PORT_COUNTS 0

static inline void dtrace_count_init(void)
{
}

static inline void dtrace_count_now(struct cpu *cpu)
{
    (void)cpu;
}

static inline uint32_t dtrace_count_features(void)
{
    return 0;
}

#endif
