/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs START and STOP in a separate thread: both dump the system's state into the buffers and wait
 * for FREE ones, so the capture loop must keep taking while they run.
 */
#ifndef TRACELOGGER_CONTROL_H
#define TRACELOGGER_CONTROL_H

/* Pulses on the logger's channel. */
enum {
    PULSE_HOOK = 1,
    PULSE_TIME = 2,
    PULSE_DONE = 3,
    PULSE_FLUSH = 4,
    PULSE_LAG = 5,
    PULSE_SIGNAL = 6,
    PULSE_AFTER = 7
};

/* Runs TraceEvent(command) in another thread, which then sends PULSE_DONE with 0 or the errno.
 * 0, or -1 (reported). */
int control_start(int coid, int command);
/* Called after PULSE_DONE: joins that thread. */
void control_finish(void);

#endif
