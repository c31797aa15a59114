/* SPDX-License-Identifier: BSD-2-Clause */
/* A buffer that is not written to the capture: its events are losses. */
#ifndef TRACELOGGER_REFUSED_H
#define TRACELOGGER_REFUSED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/slot.h"
#include "tracelogger/capture.h"

/* Allocates memory for counts kept until the end. Returns 0 or -1 (reported). */
int refused_open(void);
/* Counts its events by class, and the losses it reported: as DROPPED slots instead of it, or
 * `later`, when none can be written before the capture's end. Returns 0 or -1. */
int refused_account(struct capture *capture, uint32_t cpu, const struct trace_slot *slots,
                    size_t count, bool later);
/* Returns the counts kept for later. */
uint64_t refused_later(uint32_t cpu, uint32_t reason, uint32_t class);

#endif
