/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes how many kernel buffers a CPU would have needed to lose nothing for lack of them: those
 * it had, and the largest backlog beyond those of a logger with any number of buffers. Losses are
 * added to that backlog; while the logger is idle, because no buffer is READY, the backlog shrinks
 * at the logger's best speed. One thread.
 */
#ifndef TRACELOGGER_NEED_H
#define TRACELOGGER_NEED_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/sys/trace.h"
#include "trace/slot.h"

/* Reports a taken buffer. */
void need_note(const struct kymo_trace_buffer *taken, const struct trace_slot *slots);
/* Returns whether there is a backlog: only then is the logger's time needed, which takes a kernel
 * call. */
bool need_is_open(void);
/* Report that no buffer was READY at `now`, that one is again, and that `buffers` buffers were
 * written since. */
void need_idle(uint64_t now);
void need_busy(uint64_t now);
void need_carried(uint64_t now, unsigned buffers);
/* Returns the largest backlog of a CPU in slots, beyond its buffers. Adds losses in `loss` that no
 * buffer has reported yet; `slots` slots were written for `written` events. */
uint64_t need_slots(uint32_t cpu, const struct kymo_trace_loss *loss, uint64_t slots,
                    uint64_t written);

#endif
