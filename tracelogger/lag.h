/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The message that the logger doesn't keep up: what is lost so far for want of buffers, by the
 * DROPPED slots of the buffers that it takes. So the message, the report and the capture say the
 * same number. It comes when nothing waits to be written, or a second late, and ever more seldom:
 * it shall not cost what it complains of.
 */
#ifndef TRACELOGGER_LAG_H
#define TRACELOGGER_LAG_H

#include "kernel/abi/sys/trace.h"
#include "trace/slot.h"
#include "tracelogger/capture.h"

/* Looks at a buffer that was taken. */
void lag_note(const struct kymo_trace_buffer *taken, const struct trace_slot *slots);
/* After writing: says it if it is time to. */
void lag_tell(const struct capture *capture);

#endif
