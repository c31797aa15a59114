/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The thread of a recording: sleeps until the kernel reports that a buffer is READY or that tracing
 * has stopped, or a program asks it to end. See internal.h.
 */
#include <errno.h>

#include "abi/sys/neutrino.h"
#include "lib/capture/protocol.h"
#include "lib/include/kymo.h"
#include "lib/tracelog/internal.h"

bool tracelog_leaves_running(tracelog_instance_t *log, int to)
{
    int from = RUNNING;

    return atomic_compare_exchange_strong(&log->phase, &from, to);
}

static bool stopped_by_another(tracelog_instance_t *log)
{
    struct kymo_trace_owner owner;
    bool runs = TraceEvent((int)KYMO_TRACE_QUERYOWNER, &owner) == 0 && owner.running;

    return !runs && tracelog_leaves_running(log, ENDED);
}

/* Returns whether the writer has refused, or the end was requested. STOP doesn't wait for buffers,
 * not even in a ring. */
static bool is_to_end(tracelog_instance_t *log)
{
    if ((log->error == 0 && !log->stopper) || !tracelog_leaves_running(log, ENDED)) {
        return false;
    }
    TraceEvent((int)_NTO_TRACE_STOP);
    return true;
}

/* Handles `tracestop`; replied when the capture is complete. */
static void asked_to_stop(tracelog_instance_t *log, int rcvid, const struct tracelogger_msg *msg,
                          size_t bytes)
{
    if (bytes < sizeof(*msg) || msg->type != TRACELOGGER_STOP) {
        MsgError(rcvid, ENOSYS);
    } else if (log->stopper) {
        MsgError(rcvid, EBUSY);
    } else {
        log->stopper = rcvid;
    }
}

/* Waits; returns whether the received event ends the recording. */
static bool next(tracelog_instance_t *log)
{
    union {
        struct _pulse pulse;
        struct tracelogger_msg msg;
    } in;
    struct _msg_info info;
    int rcvid = MsgReceive(log->chid, &in, sizeof(in), &info);

    if (rcvid > 0) {
        asked_to_stop(log, rcvid, &in.msg, info.msglen);
    }
    return (rcvid == 0 && in.pulse.code == TRACELOG_DONE) || stopped_by_another(log);
}

void tracelog_detach_names(tracelog_instance_t *log)
{
    for (unsigned i = 0; i < sizeof(log->names) / sizeof(log->names[0]); i++) {
        if (log->names[i] >= 0) {
            NameDetach(log->names[i]);
            log->names[i] = -1;
        }
    }
}

static void reply(const tracelog_instance_t *log)
{
    struct tracelogger_summary summary = {
        .events = log->account.made,
        .lost = log->account.lost,
    };

    if (log->stopper) {
        MsgReply(log->stopper, log->error != 0, &summary, sizeof(summary));
    }
}

void *tracelog_loop(void *arg)
{
    tracelog_instance_t *log = arg;
    bool ended = false;

    while (!ended) {
        ended = next(log);
        if (tracelog_carry(log) && !ended) {
            MsgSendPulse(log->coid, SIGEV_PULSE_PRIO_INHERIT, TRACELOG_LOOK, 0);
        }
        ended = ended || is_to_end(log);
    }
    /* buffers that the stop has closed; an application may have started again */
    tracelog_carry(log);
    InterruptDetach(log->hook);
    capture_buffers_unmap(&log->buffers);
    TraceEvent((int)_NTO_TRACE_DEALLOCBUFFER);
    tracelog_settle(log);
    tracelog_detach_names(log); /* not earlier: the next recording begins a new account */
    reply(log);
    return NULL;
}
