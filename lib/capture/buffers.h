/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The event log's buffers in the process that carries them (docs/ring.md): the tracelogger's and
 * sys/tracelog.h's. It has said ALLOCBUFFER or one of its kin. One thread. 0, or -1 and errno.
 */
#ifndef LIB_CAPTURE_BUFFERS_H
#define LIB_CAPTURE_BUFFERS_H

#include <stdint.h>

#include "abi/sys/trace.h"
#include "trace/slot.h"

#define CAPTURE_CPUS_MAX 64 /* that a slot's header can name */

struct capture_buffers {
    const uint8_t *block; /* read-only; NULL: not mapped */
    uint64_t bytes;
};

int capture_buffers_map(struct capture_buffers *buffers);
void capture_buffers_unmap(struct capture_buffers *buffers);
/* Where a buffer that was taken has its slots; NULL: that buffer is impossible. */
const struct trace_slot *capture_buffers_slots(const struct capture_buffers *buffers,
                                               const struct kymo_trace_buffer *taken);

#endif
