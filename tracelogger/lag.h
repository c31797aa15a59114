/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The message that the logger doesn't keep up. That something is lost for want of buffers, the
 * DROPPED slots of the buffers say that it takes; how much, the kernel's account, which is what the
 * report and the capture come to. It is said when nothing waits to be written, or a second late,
 * and ever more seldom: it shall not cost what it complains of.
 */
#ifndef TRACELOGGER_LAG_H
#define TRACELOGGER_LAG_H

#include "abi/sys/trace.h"
#include "trace/slot.h"
#include "tracelogger/capture.h"

/* Looks at a buffer that was taken. */
void lag_note(const struct kymo_trace_buffer *taken, const struct trace_slot *slots);
/* After writing: says it if it is time to. Else, if something is to be said later, in how many ns:
 * nobody may come this way again before. 0: nothing is. */
uint64_t lag_tell(const struct capture *capture);

#endif
