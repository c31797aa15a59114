/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tracelogger: carries the kernel's trace buffers to a file. Needs the abilities trace, interrupt
 * and host. The main thread sleeps in MsgReceive() until the kernel says that a buffer is READY or
 * that tracing has stopped, a timer that time is up, or `tracestop` that it is enough; nothing
 * polls.
 *
 * Its life: STARTING (START's state dump is being written) -> RUNNING -> STOPPING (STOP is at work;
 * in ring mode that dumps the state again) -> done. With -d1 it is RUNNING from the beginning, and
 * applications START and STOP; without, another process's STOP is the end of RUNNING.
 * docs/man/tracelogger.1 says the options.
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
#include "tracelogger/lag.h"
#include "tracelogger/owner.h"
#include "tracelogger/protocol.h"
#include "tracelogger/report.h"
#include "tracelogger/sink.h"

enum phase { STARTING, RUNNING, STOPPING, DONE };

static struct {
    struct options options;
    struct capture capture;
    name_attach_t *name;
    int coid; /* to our own channel */
    int hook;
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

static int set_timer(int code, uint32_t seconds, bool again)
{
    uint64_t ns = (uint64_t)seconds * UINT64_C(1000000000);
    struct _itimer when = {ns, again ? ns : 0};
    struct sigevent event;

    if (seconds == 0) {
        return 0;
    }
    SIGEV_PULSE_INIT(&event, logger.coid, SIGEV_PULSE_PRIO_INHERIT, code, 0);
    int timer = TimerCreate(CLOCK_MONOTONIC_KYMO, &event);
    if (timer < 0 || TimerSettime(timer, 0, &when, NULL) < 0) {
        return trouble("timer");
    }
    return 0;
}

/* -s and -D count from the end of START; with -d1 from where that may come. */
static int set_timers(void)
{
    return set_timer(PULSE_TIME, logger.options.seconds, false) != 0 ||
                   set_timer(PULSE_FLUSH, logger.options.flush_seconds, true) != 0
               ? -1
               : 0;
}

static int tell_name(void)
{
    return NameAttach(TRACELOGGER_NAME, logger.name->chid) < 0 ? trouble(TRACELOGGER_NAME) : 0;
}

/* The recording runs. */
static void running(void)
{
    logger.phase = RUNNING;
    logger.bad |= set_timers() != 0 || tell_name() != 0;
    if (logger.stop_wanted || logger.bad) {
        stop();
    }
}

/* Another process's STOP is the end, but with -d1 just that of one of several runs. */
static void notice_stop(void)
{
    if (logger.phase == RUNNING && !logger.options.daemon && !owner_is_recording()) {
        printf("tracelogger: stopped by another process\n");
        logger.phase = DONE;
    }
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
        running();
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
    if (logger.phase == RUNNING) {
        lag_tell(&logger.capture);
    }
    if (logger.capture.cut) {
        stop();
    }
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
        notice_stop();
        break;
    case PULSE_FLUSH:
        TraceEvent(_NTO_TRACE_FLUSHBUFFER);
        break;
    case PULSE_TIME:
        stop();
        break;
    case PULSE_DONE:
        control_done(pulse->value.sival_int);
        notice_stop(); /* its pulse may have come before */
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
        owner_tell("`tracestop` ends it");
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
    TraceEvent(_NTO_TRACE_FLUSHBUFFER); /* STOP has closed them: this finds nothing, or refuses */
    logger.bad |= capture_drain(&logger.capture, false) != 0;
    logger.bad |= capture_pending(&logger.capture) != 0;
    InterruptDetach(logger.hook);
    logger.bad |= sink_close() != 0 || logger.capture.unwritten > 0;
    report(&logger.capture, &logger.summary);
    fflush(stdout);
}

/* With -d1 START is the applications'. */
static int begin(void)
{
    if (logger.options.daemon) {
        running();
        return 0;
    }
    return control_start(logger.coid, _NTO_TRACE_START);
}

static int open_all(void)
{
    if (attach_hook() != 0 || sink_open(logger.options.file) != 0 ||
        header_write(&logger.options) != 0 || capture_fits(&logger.capture) != 0) {
        return -1;
    }
    if (logger.options.verbose) {
        printf("tracelogger: recording to %s, %u kernel buffers per CPU\n", logger.options.file,
               (unsigned)logger.options.kernel_buffers);
    }
    return begin();
}

static int run(void)
{
    sink_settings = (struct sink_settings){logger.options.format, logger.options.reclaim};
    if (take_name() != 0 || capture_open(&logger.capture, &logger.options) != 0) {
        return 1;
    }
    if (open_all() != 0) {
        sink_close();
        capture_close(&logger.capture);
        return 1;
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
