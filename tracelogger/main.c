/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tracelogger: carries the kernel's trace buffers to a file. Needs the abilities trace, interrupt
 * and host. The main thread sleeps in MsgReceive() until the kernel says that a buffer is READY, a
 * timer that time is up, or `tracestop` that it is enough; nothing ticks, nothing polls.
 *
 * Its life: STARTING (START's state dump is being written) -> RUNNING -> STOPPING (STOP is at work;
 * in ring mode that dumps the state again) -> done. docs/man/tracelogger.1 says the options.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/dispatch.h>

#include "kernel/abi/sys/kymo.h"
#include "kernel/abi/sys/neutrino.h"
#include "kernel/abi/sys/trace.h"
#include "tracelogger/capture.h"
#include "tracelogger/control.h"
#include "tracelogger/header.h"
#include "tracelogger/protocol.h"
#include "tracelogger/report.h"
#include "tracelogger/sink.h"

enum phase { STARTING, RUNNING, STOPPING, DONE };

static struct {
    struct options options;
    struct capture capture;
    name_attach_t *name;
    int coid; /* to our own channel */
    int hook, timer;
    int stopper; /* rcvid of who asked us to stop, 0: nobody */
    enum phase phase;
    bool stop_wanted; /* while STARTING: stop when that is over */
    bool bad;         /* exit status 1 */
    struct tracelogger_summary summary;
} logger;

static int trouble(const char *what)
{
    printf("tracelogger: %s: %s\n", what, strerror(errno));
    return -1;
}

static void stop(void)
{
    if (logger.phase == STARTING) {
        logger.stop_wanted = true;
    } else if (logger.phase == RUNNING) {
        logger.phase = STOPPING;
        if (control_start(logger.coid, _NTO_TRACE_STOP) != 0) {
            logger.bad = true;
            logger.phase = DONE;
        }
    }
}

/* -s counts from the end of START. */
static int set_timer(void)
{
    struct _itimer when = {(uint64_t)logger.options.seconds * UINT64_C(1000000000), 0};
    struct sigevent event;

    if (logger.options.seconds == 0) {
        return 0;
    }
    SIGEV_PULSE_INIT(&event, logger.coid, SIGEV_PULSE_PRIO_INHERIT, PULSE_TIME, 0);
    logger.timer = TimerCreate(CLOCK_MONOTONIC_KYMO, &event);
    if (logger.timer < 0 || TimerSettime(logger.timer, 0, &when, NULL) < 0) {
        return trouble("timer");
    }
    return 0;
}

static int tell_name(void)
{
    return NameAttach(TRACELOGGER_NAME, logger.name->chid) < 0 ? trouble(TRACELOGGER_NAME) : 0;
}

/* START or STOP has come back. */
static void control_done(int error)
{
    control_finish();
    if (error != 0) {
        printf("tracelogger: %s: %s\n", logger.phase == STARTING ? "start" : "stop",
               strerror(error));
        logger.bad = true;
        logger.phase = DONE;
    } else if (logger.phase == STOPPING) {
        logger.phase = DONE;
    } else {
        logger.phase = RUNNING;
        logger.bad |= set_timer() != 0 || tell_name() != 0;
        if (logger.stop_wanted || logger.bad) {
            stop();
        }
    }
}

static void drain(void)
{
    bool limited = logger.phase != STOPPING;

    if (capture_drain(&logger.capture, limited) != 0) {
        logger.bad = true;
        stop();
    }
    uint32_t limit = logger.options.buffers;
    if (limit && logger.capture.written >= limit) {
        stop();
    } else if (logger.capture.more) {
        MsgSendPulse(logger.coid, SIGEV_PULSE_PRIO_INHERIT, PULSE_HOOK, 0); /* after what waits */
    }
}

static void pulse(const struct _pulse *pulse)
{
    switch (pulse->code) {
    case PULSE_HOOK:
        break;
    case PULSE_TIME:
        stop();
        break;
    case PULSE_DONE:
        control_done(pulse->value.sival_int);
        break;
    case _PULSE_CODE_DISCONNECT:
        ConnectDetach(pulse->scoid);
        return;
    default:
        return;
    }
    drain();
}

static void message(int rcvid, const struct tracelogger_msg *msg, size_t bytes)
{
    if (bytes < sizeof(*msg) || msg->type != TRACELOGGER_STOP) {
        MsgError(rcvid, ENOSYS);
    } else if (logger.stopper) {
        MsgError(rcvid, EBUSY);
    } else {
        logger.stopper = rcvid; /* answered when the capture is complete */
        stop();
        drain();
    }
}

static void loop(void)
{
    union {
        struct _pulse pulse;
        struct tracelogger_msg msg;
    } in;
    struct _msg_info info;

    while (logger.phase != DONE) {
        int rcvid = MsgReceive(logger.name->chid, &in, sizeof(in), &info);

        if (rcvid == 0) {
            pulse(&in.pulse);
        } else if (rcvid > 0) {
            message(rcvid, &in.msg, info.msglen);
        }
    }
}

/* Before all else: of two loggers, only one gets the name. */
static int take_name(void)
{
    logger.name = name_attach(NULL, TRACELOGGER_LOCK, 0);
    if (logger.name) {
        logger.coid = ConnectAttach(0, 0, logger.name->chid, _NTO_SIDE_CHANNEL, 0);
        return logger.coid < 0 ? trouble("connection") : 0;
    }
    if (errno == EEXIST) {
        printf("tracelogger: another one runs\n");
        return -1;
    }
    return trouble(TRACELOGGER_LOCK);
}

static int attach_hook(void)
{
    struct sigevent event;

    SIGEV_PULSE_INIT(&event, logger.coid, SIGEV_PULSE_PRIO_INHERIT, PULSE_HOOK, 0);
    logger.hook = InterruptAttachEvent((int)_NTO_HOOK_TRACE, &event, 0);
    return logger.hook < 0 ? trouble("_NTO_HOOK_TRACE") : 0;
}

/* What is still in the kernel after STOP, and the losses that nothing in the stream tells of. */
static void finish(void)
{
    logger.capture.ring_running = false;
    TraceEvent(_NTO_TRACE_FLUSHBUFFER); /* STOP has closed them: this finds nothing, or refuses */
    logger.bad |= capture_drain(&logger.capture, false) != 0;
    logger.bad |= capture_pending(&logger.capture) != 0;
    InterruptDetach(logger.hook);
    logger.bad |= sink_close() != 0 || logger.capture.unwritten > 0;
    report(&logger.capture, &logger.summary);
    fflush(stdout);
}

static int run(void)
{
    sink_settings = (struct sink_settings){logger.options.format, logger.options.reclaim};
    if (take_name() != 0 || capture_open(&logger.capture, &logger.options) != 0) {
        return 1;
    }
    if (attach_hook() != 0 || sink_open(logger.options.file) != 0 ||
        header_write(&logger.options) != 0 || control_start(logger.coid, _NTO_TRACE_START) != 0) {
        sink_close();
        capture_close(&logger.capture);
        return 1;
    }
    if (logger.options.verbose) {
        printf("tracelogger: recording to %s, %u kernel buffers per CPU\n", logger.options.file,
               (unsigned)logger.options.kernel_buffers);
    }
    loop();
    finish();
    capture_close(&logger.capture);
    if (logger.stopper) {
        MsgReply(logger.stopper, logger.bad, &logger.summary, sizeof(logger.summary));
    }
    return logger.bad;
}

int main(int argc, char **argv)
{
    int stop_now = options_parse(argc, argv, &logger.options);

    return stop_now ? stop_now - 1 : run();
}
