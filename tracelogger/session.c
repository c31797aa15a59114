/* SPDX-License-Identifier: BSD-2-Clause */
/* See session.h. The loop sleeps in MsgReceive(); nothing polls. */
#include "tracelogger/session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "abi/sys/kymo.h"
#include "abi/sys/neutrino.h"
#include "abi/sys/trace.h"
#include "lib/include/kymo.h"
#include "tracelogger/control.h"
#include "tracelogger/lag.h"
#include "tracelogger/owner.h"

#define NS_PER_S UINT64_C(1000000000)

struct session session = {.lag_timer = -1, .after_timer = -1};

static int logger_session_print_trouble(const char *what)
{
    printf("tracelogger: %s: %s\n", what, strerror(errno));
    return -1;
}

void session_stop(void)
{
    if (session.phase == STARTING) {
        session.stop_wanted = true;
    } else if (session.phase == RUNNING) {
        session.phase = STOPPING;
        if (control_start(session.coid, _NTO_TRACE_STOP) != 0) {
            session.bad = true;
            session.phase = DONE;
        }
    }
}

/* Sets `*timer`, creating it if needed; `ns` 0: does nothing. */
static int set_timer(int *timer, int code, uint64_t ns, uint64_t again)
{
    struct _itimer when = {ns, again};
    struct sigevent event;

    if (ns == 0) {
        return 0;
    }
    SIGEV_PULSE_INIT(&event, session.coid, SIGEV_PULSE_PRIO_INHERIT, code, 0);
    if (*timer < 0) {
        *timer = TimerCreate(CLOCK_MONOTONIC, &event);
    }
    return *timer < 0 || TimerSettime(*timer, 0, &when, NULL) < 0
               ? logger_session_print_trouble("no timer")
               : 0;
}

void session_running(void)
{
    /* -s and -D count from the end of START; with -d1 from when START may come. */
    uint64_t end = session.options.seconds * NS_PER_S;
    uint64_t flush = session.options.flush_seconds * NS_PER_S;
    int timer[2] = {-1, -1};

    session.phase = RUNNING;
    if (set_timer(&timer[0], PULSE_TIME, end, 0) != 0 ||
        set_timer(&timer[1], PULSE_FLUSH, flush, flush) != 0) {
        session.bad = true;
    } else if (NameAttach(TRACELOGGER_NAME, session.name->chid) < 0) {
        session.bad = true;
        logger_session_print_trouble(TRACELOGGER_NAME);
    } else if (session.options.verbose && !session.bad) {
        /* Printed only after START, so that the actions of someone who waits for this line are in
         * the capture. With -d1 START is still left to the applications. */
        printf("tracelogger: recording to %s, %u kernel buffers per CPU\n", session.options.file,
               (unsigned)session.options.kernel_buffers);
    }
    if (session.stop_wanted || session.bad) {
        session_stop();
    }
}

/* Called when a D clause has called logstop(). */
static void logger_session_on_logstop(void)
{
    uint64_t after = session.options.after_seconds * NS_PER_S;

    session.triggered = true;
    if (after == 0 || set_timer(&session.after_timer, PULSE_AFTER, after, 0) != 0) {
        printf("tracelogger: stopped by a D trigger\n");
        session_stop();
    } else {
        printf("tracelogger: a D trigger: the recording stops in %u s\n",
               (unsigned)session.options.after_seconds);
    }
}

/* Another process's STOP ends the session; with -d1 only one of several runs, for which an earlier
 * trigger counts. */
static void logger_session_check_stopped(void)
{
    bool triggered;

    if (session.phase != RUNNING) {
        return;
    }
    bool recording = owner_is_recording(&triggered);
    if (!recording && !session.options.daemon) {
        printf("tracelogger: stopped by another process\n");
        session.phase = DONE;
    } else if (triggered && !session.triggered) {
        logger_session_on_logstop();
    }
}

/* Called when START or STOP has returned. */
static void control_done(int error)
{
    control_finish();
    if (error != 0) {
        printf("tracelogger: the recording can't be %s: %s\n",
               session.phase == STARTING ? "started" : "stopped", strerror(error));
        session.bad = true;
        session.phase = DONE;
    } else if (session.phase == STOPPING) {
        session.phase = DONE;
    } else {
        session_running();
    }
}

static void logger_session_drain_buffers(void)
{
    bool limited = session.phase != STOPPING;

    if (capture_drain(&session.capture, limited) != 0) {
        session.bad = true;
        session_stop();
    }
    uint32_t limit = session.options.buffers;
    if (session.phase == RUNNING) {
        set_timer(&session.lag_timer, PULSE_LAG, lag_tell(&session.capture), 0);
    }
    if (session.capture.cut) {
        session_stop();
    }
    if (limited && limit && session.capture.counted >= limit) {
        session_stop();
    } else if (session.capture.more) {
        MsgSendPulse(session.coid, SIGEV_PULSE_PRIO_INHERIT, PULSE_HOOK, 0); /* at the end */
    }
}

static void logger_session_take_pulse(const struct _pulse *pulse)
{
    switch (pulse->code) {
    case PULSE_HOOK:
        logger_session_check_stopped();
        break;
    case PULSE_FLUSH:
        TraceEvent(_NTO_TRACE_FLUSHBUFFER);
        break;
    case PULSE_SIGNAL:
    case PULSE_TIME:
        session_stop();
        break;
    case PULSE_AFTER:
        if (session.phase == RUNNING) { /* else it is already stopping */
            printf("tracelogger: stopped by a D trigger\n");
        }
        session_stop();
        break;
    case PULSE_LAG:
        break;
    case PULSE_DONE:
        control_done(pulse->value.sival_int);
        logger_session_check_stopped(); /* its pulse may have come before */
        break;
    case _PULSE_CODE_DISCONNECT:
        ConnectDetach(pulse->scoid);
        return;
    default:
        return;
    }
    logger_session_drain_buffers();
}

void session_loop(void)
{
    union {
        struct _pulse pulse;
        struct tracelogger_msg msg;
    } in;
    struct _msg_info info;

    while (session.phase != DONE) {
        int rcvid = MsgReceive(session.name->chid, &in, sizeof(in), &info);

        if (rcvid == 0) {
            if (kymo_pulse_trusted(session.scoid, &in.pulse)) {
                logger_session_take_pulse(&in.pulse);
            }
        } else if (rcvid < 0) {
            continue;
        } else if (info.msglen < sizeof(in.msg) || in.msg.type != TRACELOGGER_STOP) {
            MsgError(rcvid, ENOSYS);
        } else if (!kymo_may_control(&info, ABILITY_TRACE)) {
            MsgError(rcvid, EPERM);
        } else if (session.stopper) {
            MsgError(rcvid, EBUSY);
        } else {
            session.stopper = rcvid; /* answered when the capture is complete */
            session_stop();
            logger_session_drain_buffers();
        }
    }
}
