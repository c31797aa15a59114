/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many kernel buffers a CPU would have needed for nothing to be lost for want of them: what it
 * had, and the most that a logger with any number of buffers would have had waiting beyond those.
 * What was lost is added to that backlog, and while the logger is idle, because nothing is READY,
 * it would have been at work on it, as fast as it was when it was fastest. One thread.
 */
#ifndef TRACELOGGER_NEED_H
#define TRACELOGGER_NEED_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/sys/trace.h"
#include "trace/slot.h"

/* A buffer was taken. */
void need_note(const struct kymo_trace_buffer *taken, const struct trace_slot *slots);
/* There is a backlog: only then the logger's time matters, which is a kernel call each time. */
bool need_is_open(void);
/* At `now` nothing was READY; something is again; so many buffers were carried since. */
void need_idle(uint64_t now);
void need_busy(uint64_t now);
void need_carried(uint64_t now, unsigned buffers);
/* The most slots that a CPU's backlog had beyond its buffers. What `loss` has and no buffer has
 * told of yet is added; of `written` events `slots` slots were written. */
uint64_t need_slots(uint32_t cpu, const struct kymo_trace_loss *loss, uint64_t slots,
                    uint64_t written);

#endif
