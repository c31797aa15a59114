/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's buffers in the tracelogger: allocated and mapped read-only, taken when READY,
 * written to the sink directly from the mapping, and returned. One thread, except for
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
    uint32_t written; /* buffers */
    /* of those, counted for -n: not START's first ones, nor those that a CPU delivered on
     * request (--idle) */
    uint32_t counted;
    uint64_t slots;         /* in them */
    uint64_t unwritten;     /* slots taken that the sink refused, in whole buffers */
    uint64_t refused;       /* events in them, where the sink continued */
    uint64_t refused_times; /* of those, the TIMEs of buffers without events */
    bool more;              /* capture_drain() has left some */
    bool cut;               /* -S is reached: later buffers are counted as lost */
};

/* Gets the buffers and sets filters and mode. 0 or -1 (reported). */
int capture_open(struct capture *capture, const struct options *options);
/* Called after the header: checks that -S leaves room for anything. Returns 0 or -1 (reported). */
int capture_fits(const struct capture *capture);
/* Writes a few of the READY buffers, `limited`: up to -n's limit; `more` says whether to call
 * again: writing a buffer over a slow link can make more events than a buffer holds. Returns 0, or
 * -1 if the sink failed: taken buffers are returned anyway. */
int capture_drain(struct capture *capture, bool limited);
/* Called after STOP: writes the buffers that were READY then. Returns 0, or -1 as above. */
int capture_rest(struct capture *capture);
/* Writes the capture's end after the last buffer: for each CPU DROPPED slots for losses not in any
 * buffer, and the end mark. Returns 0 or -1. */
int capture_pending(struct capture *capture);
/* Writes DROPPED slots after that CPU's last slot: reason << 8 | class, and the number. carry.c
 * closes their group. Returns 0 or -1. */
int capture_dropped(uint32_t cpu, uint32_t reason_class, uint64_t events);
/* Writes DROPPED for events of a ring that were overwritten between two runs, as a group. Returns 0
 * or -1. */
int capture_recycled(uint32_t cpu, uint64_t events);
/* Unmaps and frees the buffers. */
void capture_close(struct capture *capture);

#endif
