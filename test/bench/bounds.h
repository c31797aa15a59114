/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of guest_bounds.c: a struct bound for each kernel call, made by MEASURE() or SAME() in
 * one of the files guest_bounds*.c, and what these share.
 */
#ifndef TEST_BENCH_BOUNDS_H
#define TEST_BENCH_BOUNDS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/neutrino.h>

#include "test/bench/latency.h"

#define LATE (UINT64_C(1) << 50)

struct bound {
    int (*begin)(void); /* not counted; NULL: none. Not 0: the case can't be made */
    int (*run)(void);
    void (*end)(void);      /* not counted; NULL: none */
    const char *same, *why; /* instead of run: the row that is an upper bound, and the reason */
};
#define MEASURE(handler, begin, run, end) \
    const struct bound bound_##handler = {begin, run, end, NULL, NULL}
#define SAME(handler, as, reason) \
    const struct bound bound_##handler = {.same = (as), .why = (reason)}
#define KERCALL(number, NAME, handler, ...) extern const struct bound bound_##handler;
#include "abi/kercalls.def"
#undef KERCALL
/* More cases of ThreadDestroy(), by what the thread was to others. */
extern const struct bound bound_destroy_owner, bound_destroy_server;

/* What waits: threads of this process, at a channel and at synchronization objects. */
extern int chid, coid;
extern sync_t mutex, cond, sem;
extern pthread_t crowd_tids[WAITERS];
extern unsigned crowd_size;
/* As many threads as there may be, each of another priority above the caller's, the lowest last, so
 * that a queue is passed from end to end. Each runs until it waits. */
int crowd(void *(*role)(void *));
void crowd_end(void); /* they have returned, or are ended here */
void *role_sends(void *at);
void *role_locks(void *at);
void *role_waits(void *at);
void *role_sem(void *at);
void *role_sleeps(void *at);
int begin_sleepers(void);
struct sigevent pulse_event(void); /* to that channel */

/* What a row has made, to be destroyed by it. */
#define MOST 64
extern int made[MOST];
extern unsigned nmade;
int keep(int id); /* 0: there are no more, or enough */

#endif
