/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the files of lib/tracelog: instance.c (the program's settings), record.c (a recording's
 * start, stop and end), loop.c (its thread), carry.c (passing buffers to the writer).
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
 * writer's refusal) -> IDLE, after tracelog_wait(). The thread that leaves RUNNING does so by a
 * compare-and-swap.
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
    /* Owned by the recording thread; by the program before that is made and after it has been
     * joined */
    int error;   /* the writer's; nothing is written after it */
    int stopper; /* rcvid of the client that waits for the end, 0: none */
    struct capture_check check;
    struct capture_idle idle;
    struct tracelog_account account;
    struct kymo_trace_loss loss;
};

/* Pulses on its channel. */
enum { TRACELOG_HOOK = 1, TRACELOG_LOOK = 2, TRACELOG_DONE = 3 };

bool tracelog_is_acquired(void);
bool tracelog_records(void);

/* capture_put_t: passes bytes to the writer of this instance. */
int tracelog_put(void *instance, const void *data, size_t bytes);
/* The recording thread of an instance. */
void *tracelog_loop(void *instance);
/* Returns true for the thread that ends the recording. */
bool tracelog_leaves_running(tracelog_instance_t *log, int to);
void tracelog_detach_names(tracelog_instance_t *log);
/* Writes READY buffers, at most as many as there are buffers; returns whether there may be more. */
bool tracelog_carry(tracelog_instance_t *log);
/* Called when the buffers are freed: gets the kernel's account, and writes the losses to the
 * capture. */
void tracelog_settle(tracelog_instance_t *log);

#endif
