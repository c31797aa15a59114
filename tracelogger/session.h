/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording from its START to its end: the phases, and the main thread's events. Phases: STARTING
 * (START's state dump is being written) -> RUNNING -> STOPPING (STOP is at work; in ring mode that
 * dumps the state again) -> DONE. With -d1 it is RUNNING from the beginning, and applications START
 * and STOP; without it, another process's STOP ends RUNNING. One thread.
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
    int coid;  /* to our own channel */
    int scoid; /* of the pulses that come over it */
    int hook;
    int lag_timer; /* for a lag message that is due later */
    int after_timer;
    bool triggered; /* by a D clause: stops, after --after */
    int stopper;    /* rcvid of the client that asked to stop, 0: none */
    enum phase phase;
    bool stop_wanted; /* while STARTING: stop afterwards */
    bool bad;         /* exit status 1 */
    struct tracelogger_summary summary;
} session;

/* Called when START has returned, or is left to the applications: starts the timers and attaches
 * the name. */
void session_running(void);
/* Ends the recording, as soon as START has returned. */
void session_stop(void);
/* Runs until DONE. */
void session_loop(void);

#endif
