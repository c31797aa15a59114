/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPUs that give no buffer while others do. Readers that merge CPUs as the capture grows wait for
 * the slowest one, so the process that carries the buffers asks for what such a CPU has
 * (KYMO_TRACE_FLUSHCPUS). It asks only when it has just taken a buffer, a CPU at most once in the
 * time that is set: a quiet system is left alone. All times are those of the slots, so nothing asks
 * the kernel for the time. One thread. Proof: test/tracelogger/idle_test.c.
 */
#ifndef LIB_CAPTURE_IDLE_H
#define LIB_CAPTURE_IDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/sys/trace.h"
#include "lib/capture/buffers.h"

#define CAPTURE_IDLE_MS 100 /* by default */

struct capture_idle {
    uint64_t cycles;                  /* so long without a buffer; 0: no CPU is asked */
    uint64_t newest;                  /* the last time of any CPU's buffers */
    uint64_t given[CAPTURE_CPUS_MAX]; /* of each CPU's, or when it was asked; 0: it gave none */
    uint64_t asked;                   /* bit per CPU: its next buffer is the answer */
};

/* Begins a recording on `cpus` CPUs; ms 0: no CPU will be asked. One CPU is never asked. */
void capture_idle_begin(struct capture_idle *idle, uint32_t ms, unsigned cpus,
                        uint64_t cycles_per_sec);
/* A buffer was taken. Returns whether it was begun for a reader's sake: the CPU was asked for it,
 * or it has no events. */
bool capture_idle_taken(struct capture_idle *idle, const struct kymo_trace_buffer *taken,
                        const struct trace_slot *slots);
/* Behind those: the CPUs to ask now, a bit for each. */
uint64_t capture_idle_due(struct capture_idle *idle, unsigned cpus);

#endif
