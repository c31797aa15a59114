/* SPDX-License-Identifier: BSD-2-Clause */
/* A buffer that the sink has refused for good, while it goes on: its events are losses. */
#ifndef TRACELOGGER_REFUSED_H
#define TRACELOGGER_REFUSED_H

#include <stddef.h>
#include <stdint.h>

#include "trace/slot.h"
#include "tracelogger/capture.h"

/* Puts DROPPED slots in its place: its events by class, and the losses that it told of. 0 or -1. */
int refused_account(struct capture *capture, uint32_t cpu, const struct trace_slot *slots,
                    size_t count);

#endif
