/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The message that the logger doesn't keep up. DROPPED slots in the buffers it takes show that
 * events are lost for lack of buffers; the kernel's account, which the report and the capture also
 * use, gives the number. The message is printed when no buffer waits to be written, or a second
 * late, and at growing intervals, so that it does not add to the problem it reports.
 */
#ifndef TRACELOGGER_LAG_H
#define TRACELOGGER_LAG_H

#include "abi/sys/trace.h"
#include "trace/slot.h"
#include "tracelogger/capture.h"

/* Examines a buffer that was taken. */
void lag_note(const struct kymo_trace_buffer *taken, const struct trace_slot *slots);
/* Called after writing: prints the message if it is time. If it is due later, returns in how many
 * ns, because there may be no other call before; 0: no message is due. */
uint64_t lag_tell(const struct capture *capture);

#endif
