/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tracelogger: writes the kernel's trace buffers to a file. Needs the abilities trace, interrupt
 * and host. This file has the set-up and the end; session.h the time in between: the main thread
 * sleeps until the kernel reports that a buffer is READY or that tracing has stopped, a timer that
 * time is up, or `tracestop` asks it to stop. docs/man/tracelogger.1 documents the options.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/dispatch.h>

#include "abi/sys/kymo.h"
#include "abi/sys/neutrino.h"
#include "abi/sys/trace.h"
#include "lib/include/kymo.h"
#include "tracelogger/capture.h"
#include "tracelogger/control.h"
#include "tracelogger/gate.h"
#include "tracelogger/header.h"
#include "tracelogger/keep.h"
#include "tracelogger/object.h"
#include "tracelogger/owner.h"
#include "tracelogger/recover.h"
#include "tracelogger/report.h"
#include "tracelogger/session.h"
#include "tracelogger/sink.h"

static int logger_print_trouble(const char *what)
{
    printf("tracelogger: %s: %s\n", what, strerror(errno));
    return -1;
}

/* Called first: of two loggers, only one gets the name. */
static int logger_take_name(void)
{
    session.name = kymo_name_attach(TRACELOGGER_LOCK, KYMO_NAME_FLAGS);
    if (session.name) {
        session.coid = ConnectAttach(0, 0, session.name->chid, _NTO_SIDE_CHANNEL, 0);
        session.scoid = kymo_own_scoid(session.coid);
        return session.coid < 0 ? logger_print_trouble("no connection to its own channel") : 0;
    }
    if (errno == EEXIST) {
        owner_tell("`tracestop` ends it");
        return -1;
    }
    if (errno == EPERM) {
        printf("tracelogger: start it with the abilities trace, interrupt and host\n");
        return -1;
    }
    return logger_print_trouble(TRACELOGGER_LOCK);
}

/* Makes SIGINT and similar signals end the recording, not the process. Set up before any step that
 * a signal must not interrupt; but while a sink waits for its other end, signals end the
 * process. */
static int take_signals(void)
{
    struct sigevent event;

    SIGEV_PULSE_INIT(&event, session.coid, SIGEV_PULSE_PRIO_INHERIT, PULSE_SIGNAL, 0);
    return kymo_signal_pulse(1u << SIGHUP | 1u << SIGINT | 1u << SIGTERM, &event) < 0
               ? logger_print_trouble("signals can't be received")
               : 0;
}

/*
 * Writes the data that is still in the kernel after STOP, and the losses not yet in the stream. The
 * buffers are freed before the account is read: an application may have started again meanwhile,
 * and its events since then count as discarded.
 */
static void logger_finish_capture(void)
{
    TraceEvent(_NTO_TRACE_FLUSHBUFFER); /* STOP has closed them: this finds none, or is refused */
    session.bad |= capture_rest(&session.capture) != 0;
    InterruptDetach(session.hook);
    capture_close(&session.capture);
    session.bad |= capture_pending(&session.capture) != 0;
    session.bad |= sink_close() != 0 || session.capture.unwritten > 0;
    report(&session.capture, &session.summary);
    if (session.options.gate) {
        gate_report(session.options.gate);
    }
    fflush(stdout);
}

static int open_all(bool waits)
{
    struct sigevent event;

    SIGEV_PULSE_INIT(&event, session.coid, SIGEV_PULSE_PRIO_INHERIT, PULSE_HOOK, 0);
    session.hook = InterruptAttachEvent((int)_NTO_HOOK_TRACE, &event, 0);
    if (session.hook < 0) {
        return logger_print_trouble("the synthetic interrupt _NTO_HOOK_TRACE can't be attached");
    }
    /* Checks whether the capture fits, before any file is created for it, and again when the
     * header's size is known. */
    if (gate_set(session.options.gate) != 0 || capture_fits(&session.capture) != 0 ||
        sink_wait(session.options.file) != 0 || (waits && take_signals() != 0) ||
        sink_open(session.options.file) != 0 || header_write(&session.options) != 0 ||
        capture_fits(&session.capture) != 0) {
        return -1;
    }
    if (session.options.daemon) { /* START is the applications' */
        session_running();
        return 0;
    }
    return control_start(session.coid, _NTO_TRACE_START);
}

static int logger_run_capture(void)
{
    bool waits = sink_waits(session.options.file);

    if (logger_take_name() != 0 || (!waits && take_signals() != 0) ||
        keep_open(&session.options) != 0 || capture_open(&session.capture, &session.options) != 0) {
        return 1;
    }
    if (open_all(waits) != 0) {
        sink_close();
        capture_close(&session.capture);
        return 1;
    }
    session_loop();
    logger_finish_capture();
    if (session.stopper) {
        MsgReply(session.stopper, session.bad, &session.summary, sizeof(session.summary));
    }
    return session.bad;
}

int main(int argc, char **argv)
{
    int stop_now = options_parse(argc, argv, &session.options);

    if (stop_now) {
        return stop_now - 1;
    }
    sink_settings = (struct sink_settings){.format = session.options.format,
                                           .force = session.options.force,
                                           .reclaim = session.options.reclaim,
                                           .size = session.options.size};
    if (session.options.recover || session.options.discard) {
        return recover_work(&session.options);
    }
    return session.options.save || session.options.remove ? object_work(&session.options)
                                                          : logger_run_capture();
}
