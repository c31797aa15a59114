/* SPDX-License-Identifier: BSD-2-Clause */
/* The tracelogger's report at its end. */
#ifndef TRACELOGGER_REPORT_H
#define TRACELOGGER_REPORT_H

#include "tracelogger/capture.h"
#include "lib/capture/protocol.h"

const char *report_class_name(unsigned class); /* below KYMO_TRACE_CLASSES */
/* Prints events, buffers, losses per CPU, class and reason, and a better -k. Before the buffers are
 * freed. */
void report(const struct capture *capture, struct tracelogger_summary *summary);

/* Returns the -k with which nothing would have been lost for lack of buffers; may exceed the
 * available memory; 0: nothing was lost. */
uint64_t report_needed(const struct capture *capture);
/* Returns the events that this CPU has lost so far for lack of buffers. */
uint64_t report_lost(uint32_t cpu);

#endif
