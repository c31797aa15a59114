/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The event log's buffers in the process that reads them (docs/inside/ring.md): the tracelogger or
 * a user of sys/tracelog.h, after one of the ALLOC commands. One thread. Return 0, or -1 and errno.
 */
#ifndef LIB_CAPTURE_BUFFERS_H
#define LIB_CAPTURE_BUFFERS_H

#include <stdint.h>

#include "abi/sys/trace.h"
#include "trace/slot.h"

#ifndef CAPTURE_CPUS_MAX
#define CAPTURE_CPUS_MAX 64 /* that a slot's header can name; a board with one CPU says so */
#endif

struct capture_buffers {
    const uint8_t *block; /* read-only; NULL: not mapped */
    uint64_t bytes;
};

int capture_buffers_map(struct capture_buffers *buffers);
void capture_buffers_unmap(struct capture_buffers *buffers);
/* Returns the slots of a buffer that was taken; NULL: impossible index. */
const struct trace_slot *capture_buffers_slots(const struct capture_buffers *buffers,
                                               const struct kymo_trace_buffer *taken);

#endif
