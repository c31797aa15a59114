/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of bench_latency share: guest_latency.c has the tables full, and its own
 * operations; guest_bounds.c each kernel call. */
#ifndef TEST_BENCH_LATENCY_H
#define TEST_BENCH_LATENCY_H

#include <stdbool.h>
#include <sys/neutrino.h>

#define RW (KYMO_PROT_READ | KYMO_PROT_WRITE)
#define PARTS 64
#define PART_BYTES 60 /* odd enough that none of them is a word's multiple of a line */
#define WAITERS 12
#define IMAGE_MOST 24576
#define FILLED "bench_latency/filled" /* a child sends there when it is ready */

extern char parts[PARTS][PART_BYTES + 4], answers[PARTS][PART_BYTES + 4];
extern char big[16384];
extern uint32_t image_bytes; /* of the program that begin_calls() has read */
void parts_of(iov_t iov[PARTS], char in[PARTS][PART_BYTES + 4]);
int begin_calls(void);
/* DtraceControl() of one command on the consumer that there is. */
int d_call(uint32_t command, uint32_t id, uint32_t in_bytes, const void *in);
extern uint32_t d_flags; /* of the call */
extern uint64_t image[IMAGE_MOST / 8];
/* Where d_call() wants its answer, the room there, and the bytes of the last one. */
extern void *answer_at;
extern uint32_t answer_room, answer_bytes;
int image_read(const char *name); /* of the boot image, into image[] */
/* A child of this role, with this ability: returns 0 when it is ready, or 1. */
int child_begin(const char *role, uint32_t ability);
int child_kill(void);    /* it: returns 0 when it has ended */
int bounds_logger(void); /* what it does as a logger, until it is killed */

/* Does something between two marks, under a name that bench reads. Returns run()'s value. */
int latency_measure(const char *prefix, const char *name, int (*run)(void));
/* Each kernel call, each command of TraceEvent() and of DtraceControl(): returns 0, or 1: one could
 * not be done. */
int bounds_all(void);
int bounds_trace(void); /* those commands only (guest_bounds_trace.c) */
/* Those of retained memory need what an earlier boot left. The first boot leaves it: it fills the
 * window and panics. The next one measures: returns 0, or 1. */
bool bounds_is_first_boot(void);
void bounds_leave_window(void);
int bounds_of_retained(void);

#endif
