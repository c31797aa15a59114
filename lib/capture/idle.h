/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPUs that deliver no buffer while others do. Readers that merge CPUs while the capture grows wait
 * for the slowest one, so the process that reads the buffers asks such a CPU for its present buffer
 * (KYMO_TRACE_FLUSHCPUS). It asks only when it has just taken a buffer, and a CPU at most once per
 * interval, so a quiet system is not disturbed. All times are those of the slots, so no kernel call
 * for the time is needed. One thread. Tested by test/lib/capture/idle_test.c.
 */
#ifndef LIB_CAPTURE_IDLE_H
#define LIB_CAPTURE_IDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/sys/trace.h"
#include "lib/capture/buffers.h"

#define CAPTURE_IDLE_MS 100 /* by default */

struct capture_idle {
    uint64_t cycles; /* interval without a buffer; 0: no CPU is asked */
    uint64_t newest; /* the last time of any CPU's buffers */
    /* time of each CPU's newest buffer, or when it was asked; 0: none yet */
    uint64_t given[CAPTURE_CPUS_MAX];
    uint64_t asked; /* bit per CPU: its next buffer is the answer */
};

/* Begins a recording on `cpus` CPUs; ms 0: no CPU will be asked. One CPU is never asked. */
void capture_idle_begin(struct capture_idle *idle, uint32_t ms, unsigned cpus,
                        uint64_t cycles_per_sec);
/* Reports a taken buffer. Returns whether it exists only for readers: the CPU was asked for it, or
 * it has no events. */
bool capture_idle_taken(struct capture_idle *idle, const struct kymo_trace_buffer *taken,
                        const struct trace_slot *slots);
/* Returns the CPUs to ask now, one bit each. */
uint64_t capture_idle_due(struct capture_idle *idle, unsigned cpus);

#endif
