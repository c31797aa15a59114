/* SPDX-License-Identifier: BSD-2-Clause */
/* What tracelogger prints at its end. */
#ifndef TRACELOGGER_REPORT_H
#define TRACELOGGER_REPORT_H

#include "tracelogger/capture.h"
#include "lib/capture/protocol.h"

const char *report_class_name(unsigned class); /* below KYMO_TRACE_CLASSES */
/* Events, buffers, losses per CPU, class and reason, and a better -k. Before the buffers go. */
void report(const struct capture *capture, struct tracelogger_summary *summary);

/* The -k with which nothing would have been lost for want of buffers; may be more than can be had;
 * 0: nothing was. */
uint64_t report_needed(const struct capture *capture);
/* Events that this CPU has lost for want of buffers, so far. */
uint64_t report_lost(uint32_t cpu);

#endif
