/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between the files of lib/tracelog: instance.c (what the program sets), record.c (a recording's
 * start, stop and end), loop.c (its thread), carry.c (buffers on their way to the writer).
 */
#ifndef LIB_TRACELOG_INTERNAL_H
#define LIB_TRACELOG_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "lib/capture/buffers.h"
#include "lib/capture/check.h"
#include "lib/capture/idle.h"
#include "lib/include/sys/tracelog.h"

/*
 * IDLE -> STARTING -> RUNNING -> STOPPING (by this program) or ENDED (by another's STOP, or the
 * writer's refusal) -> IDLE, when it has been waited for. Who leaves RUNNING has swapped it.
 */
enum tracelog_phase { IDLE, STARTING, RUNNING, STOPPING, ENDED };

struct tracelog_instance {
    /* Set while it is IDLE [I] */
    int kernel_buffers, more_buffers;
    bool ring;
    tracelog_write_t write;
    void *cookie;
    int chid, coid, hook;
    int names[2]; /* of the channel: the lock, and when it records */
    struct capture_buffers buffers;
    pthread_t thread;
    _Atomic int phase; /* [a] */
    /* The recording thread's; the program's before it is made and when it has been joined */
    int error;   /* the writer's; after it nothing is written */
    int stopper; /* rcvid of who waits for the end, 0: nobody */
    struct capture_check check;
    struct capture_idle idle;
    struct tracelog_account account;
    struct kymo_trace_loss loss;
};

/* Pulses on its channel. */
enum { TRACELOG_HOOK = 1, TRACELOG_LOOK = 2, TRACELOG_DONE = 3 };

bool tracelog_is_acquired(void);
bool tracelog_records(void);

/* capture_put_t: bytes to the writer of this instance. */
int tracelog_put(void *instance, const void *data, size_t bytes);
/* The thread, of an instance. */
void *tracelog_loop(void *instance);
/* True for the one that ends it. */
bool tracelog_leaves_running(tracelog_instance_t *log, int to);
void tracelog_detach_names(tracelog_instance_t *log);
/* Writes what is READY, no more than there are buffers; whether there may be more. */
bool tracelog_carry(tracelog_instance_t *log);
/* When the buffers are given up: the kernel's account, and in the capture the losses behind it. */
void tracelog_settle(tracelog_instance_t *log);

#endif
