/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * D's counters of the CPU's events (kernel/arch/count.h): the variables `cycles` and `instructions`
 * (total.c) and the provider cpc (provider.c, fire.c), which share the counters. This is their
 * interface for the rest of D's kernel side; none/count.h replaces it in kernels without counters.
 * Kernel lock held.
 */
#ifndef KERNEL_DTRACE_COUNT_H
#define KERNEL_DTRACE_COUNT_H

#include <stdint.h>

struct cpu;

#define DTRACE_PORT_COUNTS 1 /* trace/dtrace/port.h */

/* Registers the provider; the counters are tried at their first use. Boot. */
void dtrace_count_init(void);
/* Does dtrace_sample_now()'s part for the counters: fires their probes that are due on this CPU. */
void dtrace_count_now(struct cpu *cpu);
/* Returns KYMO_D_FEATURE_COUNTS_*. */
uint32_t dtrace_count_features(void);

#endif
