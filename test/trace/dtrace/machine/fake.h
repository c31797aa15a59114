/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A machine for the D machine to run on: memory of which the test says what is mapped, and answers
 * that it sets.
 */
#ifndef TEST_TRACE_DTRACE_MACHINE_FAKE_H
#define TEST_TRACE_DTRACE_MACHINE_FAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/retain.h"
#include "test/tool/fake_areas.h"
#include "trace/dtrace/thread.h"

enum { FAKE_MAPS = 8, FAKE_CPUS = 2, FAKE_ELEMENTS = 32, FAKE_LOG = 64 };
enum { FAKE_WINDOW = 1 << 20, FAKE_KEPT = 32 }; /* retained memory; blocks in it */

struct fake_map {
    uint64_t address, size;
    bool user, kernel; /* who may read it */
    bool toxic;        /* nobody may try */
};

struct fake_log { /* an event of dtrace_port_log() */
    unsigned number, cpu;
    uint32_t words[6];
    size_t size;
    uint8_t bytes[512];
};

struct fake {
    int align;
    bool cannot_stop; /* DTRACE_PORT_STOPS is 0 */
    bool cannot_help; /* DTRACE_PORT_HELPERS is 0 */
    uint64_t stack;   /* stack pointer of the innermost frame */
    unsigned cpu;
    uint64_t now, thread;
    struct dtrace_thread state; /* the current thread's */
    uint64_t state_of;          /* the thread whose variable it remembers */
    struct fake_map maps[FAKE_MAPS];
    unsigned nmaps;
    unsigned peeks;      /* dtrace_port_peek() calls */
    unsigned toxic_read; /* peeks into toxic memory: must stay 0 */
    size_t allocated;    /* bytes */
    size_t forever;      /* of these, dtrace_port_keep()'s */
    unsigned allocs;     /* dtrace_port_alloc() calls */
    size_t alloc_limit;  /* 0: none */
    unsigned lookups;    /* of vtimestamp, walltimestamp, counters and stacks */
    unsigned counted[2]; /* consumers that use a counter */
    int no_counter[2];   /* what dtrace_port_counters() refuses */
    uint64_t random;
    unsigned speculations, elements_max;
    unsigned stops, panics, breakpoints, logstops;
    uint8_t kernel[20]; /* this one's: what dtrace_image.kernel must be */
    int raised;
    const char *execname;
    bool logging;
    struct fake_log log[FAKE_LOG]; /* full: what comes is refused */
    unsigned nlog, log_kept;       /* below that many places there is no room */
    int retaining;                 /* what dtrace_port_retaining() answers */
    bool directory_full;           /* dtrace_port_retained_put() finds no place */
    struct {
        uint32_t at, bytes;
    } kept[FAKE_KEPT];        /* blocks of retained memory; at 0: none */
    struct kymo_retain_d *is; /* whom dtrace_port_retained_put() was told of last; NULL: nobody */
};
extern struct fake fake;
/* As a board's: abi/retain.h. What a test does not put there is never written. */
extern _Alignas(64) uint8_t fake_window[FAKE_WINDOW];

void fake_reset(void);
void fake_map(const void *memory, size_t size, bool kernel, bool user);
void fake_toxic(const void *memory, size_t size);

#endif
