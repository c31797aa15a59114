/* SPDX-License-Identifier: BSD-2-Clause */
/* A buffer that doesn't get into the capture: its events are losses. */
#ifndef TRACELOGGER_REFUSED_H
#define TRACELOGGER_REFUSED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/slot.h"
#include "tracelogger/capture.h"

/* Memory for what is counted till the end. 0 or -1 (reported). */
int refused_open(void);
/* Counts its events by class, and the losses that it told of: as DROPPED slots in its place, or
 * `later`, when no place will come before the capture's end. 0 or -1. */
int refused_account(struct capture *capture, uint32_t cpu, const struct trace_slot *slots,
                    size_t count, bool later);
/* What was counted for later. */
uint64_t refused_later(uint32_t cpu, uint32_t reason, uint32_t class);

#endif
