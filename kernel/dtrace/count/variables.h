/* SPDX-License-Identifier: BSD-2-Clause */
/* D's counters on a port whose overflows don't interrupt: variables, and no provider cpc. See
 * kernel/dtrace/count/count.h. */
#ifndef KERNEL_DTRACE_COUNT_H
#define KERNEL_DTRACE_COUNT_H

#include <stdint.h>

struct cpu;

#define DTRACE_PORT_COUNTS 1

static inline void dtrace_count_init(void)
{
}

static inline void dtrace_count_now(struct cpu *cpu)
{
    (void)cpu;
}

uint32_t dtrace_count_features(void);

#endif
