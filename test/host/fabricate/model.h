/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A simulated system whose truth is known: CPUs that schedule threads, which block, preempt each
 * other, send messages through servers and servers' servers; interrupts. The model keeps every
 * event that its kernel would have made, and answers what really happened in any stretch of time,
 * however few of the events a capture has. One thread; a run is a function of its seed.
 */
#ifndef TEST_HOST_FABRICATE_MODEL_H
#define TEST_HOST_FABRICATE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "host/reader/kev.h"
#include "abi/sys/states.h"
#include "test/host/fabricate/mkcapture.h"

#define MODEL_CPUS 4
#define MODEL_THREADS 20 /* the idle ones are the first */
#define MODEL_STEP 32    /* cycles between two events at least */

struct model_event {
    uint64_t time;
    uint8_t cpu, class;
    uint16_t number;
    uint32_t words[2];
};

/* From `time` on the thread is in this state, as stat defines it: RUNNING while it is current. */
struct model_segment {
    uint64_t time, end;
    int thread, state, cpu;
};

/* A thread of process `server` ran for this client. */
struct model_charge {
    uint64_t from, to;
    int client;
    int32_t server;
};

struct model_message {
    int client, server; /* threads; server -1: not received */
    int32_t to;
    uint64_t sent, received, replied; /* 0: not yet */
};

struct model_thread {
    int32_t pid, tid;
    int state, cpu;                       /* the kernel's; cpu: current there, -1 */
    int message;                          /* that it has sent and that is not replied to, -1 */
    int clients[MODEL_THREADS], nclients; /* it serves them, the newest last */
};

struct model {
    unsigned ncpu, nthreads;
    uint64_t now, random;
    struct model_thread threads[MODEL_THREADS];
    int current[MODEL_CPUS];
    struct model_event *events;
    unsigned nevents;
    struct model_segment *segments;
    unsigned nsegments;
    int last[MODEL_THREADS]; /* segment of each thread */
    struct model_charge *charges;
    unsigned ncharges;
    struct model_message *messages;
    unsigned nmessages;
};

struct model *model_run(unsigned ncpu, unsigned events, uint64_t seed);
void model_free(struct model *model);
uint32_t model_random(struct model *model);

/* How long a thread was in a state between two times. */
uint64_t model_state_time(const struct model *model, int thread, int state, struct kev_span span);
/* How long a CPU ran its idle thread, or others. */
uint64_t model_cpu_time(const struct model *model, unsigned cpu, bool idle, struct kev_span span);
/* How long threads of process `server` ran for a client thread, directly or nested. */
uint64_t model_imposed(const struct model *model, int client, int32_t server, struct kev_span span);

#endif
