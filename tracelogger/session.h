/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording from its START to its end: the phases, and what the main thread waits for. Its life:
 * STARTING (START's state dump is being written) -> RUNNING -> STOPPING (STOP is at work; in ring
 * mode that dumps the state again) -> DONE. With -d1 it is RUNNING from the beginning, and
 * applications START and STOP; without, another process's STOP is the end of RUNNING.
 * One thread.
 */
#ifndef TRACELOGGER_SESSION_H
#define TRACELOGGER_SESSION_H

#include <sys/dispatch.h>

#include "tracelogger/capture.h"
#include "tracelogger/options.h"
#include "lib/capture/protocol.h"

enum phase { STARTING, RUNNING, STOPPING, DONE };

extern struct session {
    struct options options;
    struct capture capture;
    name_attach_t *name;
    int coid; /* to our own channel */
    int hook;
    int lag_timer; /* when there is something to say later */
    int after_timer;
    bool triggered; /* by a D clause: it stops, --after that */
    int stopper;    /* rcvid of who asked us to stop, 0: nobody */
    enum phase phase;
    bool stop_wanted; /* while STARTING: stop when that is over */
    bool bad;         /* exit status 1 */
    struct tracelogger_summary summary;
} session;

/* START is over, or the applications': the timers run, the name is there. */
void session_running(void);
/* The recording shall end: as soon as START is over. */
void session_stop(void);
/* Until it is DONE. */
void session_loop(void);

#endif
