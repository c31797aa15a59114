/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel around D's counters (kernel/dtrace/count), in the tests of these: CPUs with two
 * threads each and an idle one, timers that the test runs, the site of switches.
 */
#ifndef TEST_KERNEL_DTRACE_COUNT_COUNT_AROUND_H
#define TEST_KERNEL_DTRACE_COUNT_COUNT_AROUND_H

#include <stdbool.h>

#include "kernel/base/cpu.h"
#include "kernel/thread/thread.h"
#include "test/kernel/fake/fake.h"

extern struct thread threads[CONFIG_CPUS][2], idle[CONFIG_CPUS];
extern int site;         /* who wants the site cpu_switch */
extern unsigned settled; /* after the last change of it */

/* New threads on each CPU, the first of which runs, and facts that are to be found out. */
void around_reset(void);
/* The test is the kernel on this CPU. */
void on(unsigned cpu);
/* The thread that has the CPU leaves it, as thread.c says so. */
void switch_to(struct thread *next);
/* Runs the timers that are set. */
void time_passes(void);

#endif
