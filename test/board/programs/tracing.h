/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests of TraceEvent() share: buffers of this process's own, numbered user events, and a
 * look at what is in the buffers that can be taken. For programs whose threads stay on CPU 0, so
 * that one ring has it all, and beside which no tracelogger runs.
 */
#ifndef TEST_BOARD_PROGRAMS_TRACING_H
#define TEST_BOARD_PROGRAMS_TRACING_H

#include "test/board/programs/check.h"
#include "trace/slot.h"

#define PER_CPU (4096 / TRACE_BUFFER_SLOTS) /* buffers: as many as have room for 4096 slots */

int command(unsigned cmd); /* a TraceEvent() without arguments */
/* Buffers allocated and mapped, linear, overwrite, only user events on; and all of it ended. */
void open_buffers(void);
void close_buffers(void);
/* n user events, numbered from `from`; their second word is the complement. */
void insert(uint32_t from, uint32_t n);

/* What is found in the buffers that can be taken. */
struct found {
    unsigned buffers, users, dropped; /* dropped: user events that DROPPED slots account for */
    uint32_t first, last;             /* numbers of the first and last user event */
    unsigned processes;               /* names of processes: of the state dump */
    unsigned events;                  /* of all classes */
    bool gaps, waitctx;               /* waitctx: some thread went into that state */
};

/* A taken buffer's. */
const struct trace_slot *slots_of(const struct kymo_trace_buffer *b);
/* Checks one taken buffer's slots, and adds what it has. */
void scan(const struct kymo_trace_buffer *b, struct found *f);
/* Takes, scans and gives back all that is READY. */
struct found take_all(void);
struct kymo_trace_loss loss(void); /* CPU 0's account */

#endif
