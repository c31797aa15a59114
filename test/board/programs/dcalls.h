/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DtraceControl() for test programs: its commands with their bytes, D programs of the boot image,
 * and what must be the same after consumers as it was before: free memory, the kernel's text, and
 * what processes own. One thread at a time.
 */
#ifndef TEST_BOARD_PROGRAMS_DCALLS_H
#define TEST_BOARD_PROGRAMS_DCALLS_H

#include "test/board/programs/check.h"

#include "abi/sys/dtrace.h"

#define IN_BYTES 16384
#define OUT_BYTES 49152
#define SNAP_BYTES 40    /* struct dtrace_snap: size, oldest, drops, errors, taken */
#define STATUS_BYTES 104 /* struct dtrace_status */
#define CONSUMERS 16     /* DTRACE_CONTROL_CONSUMERS */
#define DTRACE_CREATE_LOG 2

extern uint64_t d_in[IN_BYTES / 8], d_out[OUT_BYTES / 8];

/* The call with so many bytes of d_in, and so much room in d_out: 0, or -1 and errno. */
int d_call(struct kymo_d_call *call, unsigned command, size_t in_bytes, size_t out_bytes);
/* A command of a consumer that has no bytes either way, expected to succeed. */
void d_do(uint32_t handle, unsigned command);
/* Makes the probes of all kernel calls, which stay: what is asked for later takes no memory. */
void d_provide_calls(void);
/* A consumer of this program of the boot image. dt_try: 0 if it can't be, and errno. */
uint32_t d_create(const char *name);
uint32_t dt_try(const char *name);
uint32_t d_log(const char *name); /* like dt_try(), with log=1 */
/* The same, 0x12345678 in the program being this address. */
uint32_t d_create_at(const char *name, uint64_t address);
/* Takes a CPU's buffer or aggregation: the bytes after the head, which are in d_out[5] on. */
uint32_t d_take(uint32_t handle, unsigned command, unsigned cpu);
/* Faults so far; double ones among them. */
uint64_t d_faults(uint32_t handle, uint64_t *twice);
/* The count()s over all CPUs and keys, by the number of their @variable, the first is 1. */
struct counts {
    uint64_t of[8];
};
struct counts d_counts(uint32_t handle);
uint64_t d_count_of(uint32_t handle, uint32_t variable);
uint64_t d_memory(void); /* bytes free, as the target says */

/* Something to trace: so many messages from one thread to another, and the replies. */
void d_talk(unsigned sends);

uint64_t d_objects(void); /* threads, channels, ... of all processes: a sum */

struct world {
    uint64_t memory;  /* bytes free */
    uint64_t text;    /* of the kernel's code: a hash */
    uint64_t objects; /* threads, channels, connections, timers, maps, memory of all processes */
};
struct world d_world(void);
/* Whether all is as before, and as many consumers can be made as at first. */
void d_world_is(const struct world *before);

uint32_t d_random(uint64_t *state);

#endif
