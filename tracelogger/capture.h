/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's buffers as the tracelogger sees them: allocated and mapped read-only, taken when
 * READY, written to the sink straight from the mapping, given back. One thread, except for
 * control_start()'s helper.
 */
#ifndef TRACELOGGER_CAPTURE_H
#define TRACELOGGER_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/capture/buffers.h"
#include "lib/capture/idle.h"
#include "tracelogger/options.h"

struct capture {
    const struct options *options;
    struct capture_buffers buffers;
    struct capture_idle idle;
    uint32_t written;   /* buffers */
    uint32_t counted;   /* of those, by -n: not START's first ones, nor those that a CPU gave when
                           it was asked (--idle) */
    uint64_t slots;     /* in them */
    uint64_t unwritten; /* slots taken that the sink refused, in whole buffers */
    uint64_t refused;   /* events in them, where the sink went on */
    uint64_t refused_times; /* of those, the TIMEs of buffers without events */
    bool more;              /* capture_drain() has left some */
    bool cut;               /* -S is reached: what comes is counted as lost */
};

/* Gets the buffers and sets filters and mode. 0 or -1 (reported). */
int capture_open(struct capture *capture, const struct options *options);
/* After the header: whether -S leaves room for anything. 0 or -1 (reported). */
int capture_fits(const struct capture *capture);
/* Writes a few of the READY buffers, `limited`: up to -n's limit; `more` says whether to come
 * again: carrying a buffer over a slow link can make more events than a buffer holds. 0, or -1 if
 * the sink failed: what is taken is given back all the same. */
int capture_drain(struct capture *capture, bool limited);
/* After STOP: writes what was READY then. 0, -1 as above. */
int capture_rest(struct capture *capture);
/* After the last buffer, the capture's end: for each CPU DROPPED slots for losses that found no
 * buffer to stand in, and the end mark. 0 or -1. */
int capture_pending(struct capture *capture);
/* DROPPED slots, behind what that CPU has written last: reason << 8 | class, and how many. The
 * caller's group of them is closed by carry.c. 0, -1. */
int capture_dropped(uint32_t cpu, uint32_t reason_class, uint64_t events);
/* DROPPED for events of a ring that gave way between two runs, as a group. 0, -1. */
int capture_recycled(uint32_t cpu, uint64_t events);
/* Ends the mapping and the buffers. */
void capture_close(struct capture *capture);

#endif
