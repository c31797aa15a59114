/* SPDX-License-Identifier: BSD-2-Clause */
/* An instance of <sys/tracelog.h>: instance.c has its settings, record.c its recording. */
#ifndef LIB_TRACELOG_INSTANCE_H
#define LIB_TRACELOG_INSTANCE_H

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
    int chid, coid, scoid, hook;
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

bool tracelog_is_acquired(void); /* this program may record */
bool tracelog_records(void);     /* an instance is recording */

#endif
