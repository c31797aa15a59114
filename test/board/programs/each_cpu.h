/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread on each CPU, all at the same work, and the event log's buffers, taken by this process:
 * what the tests share in which all CPUs record.
 */
#ifndef TEST_BOARD_PROGRAMS_EACH_CPU_H
#define TEST_BOARD_PROGRAMS_EACH_CPU_H

#include "test/board/programs/check.h"
#include "trace/slot.h"

#define CPUS_MOST 8

/* Starts a thread on each CPU, which calls work(cpu) and ends. */
void each_cpu_start(void (*work)(unsigned cpu));
bool each_cpu_works(void); /* some thread is not done */
void each_cpu_join(void);

int command(unsigned cmd); /* a TraceEvent() without arguments */
/* Allocates so many buffers for each CPU, and maps them. */
void buffers_open(unsigned count);
void buffers_map(void); /* those of another process */
/* Takes all that are READY: scan() gets each with its slots. */
typedef void buffer_scan(const struct kymo_trace_buffer *b, const struct trace_slot *slots);
void buffers_take(buffer_scan *scan);

#endif
