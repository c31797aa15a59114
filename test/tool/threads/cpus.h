/* SPDX-License-Identifier: BSD-2-Clause */
/* CPUs as threads, for tests whose includes leave <pthread.h> no room. */
#ifndef TEST_TOOL_THREADS_CPUS_H
#define TEST_TOOL_THREADS_CPUS_H

/* Runs cpu_main(number) on a thread for each number below n; returns when all have ended. */
void threads_run_cpus(unsigned n, void (*cpu_main)(unsigned number));

#endif
