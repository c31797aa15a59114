/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One recording: tracelog_start(), _stop(), _wait(). In between loop.c runs it. See sys/tracelog.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "abi/sys/kymo.h"
#include "abi/sys/neutrino.h"
#include "lib/capture/header.h"
#include "lib/capture/protocol.h"
#include "lib/include/kymo.h"
#include "lib/tracelog/internal.h"

static tracelog_instance_t *recording;

bool tracelog_records(void)
{
    return recording != NULL;
}

/* ---- its beginning ----------------------------------------------------------------- */

static long allocate(const tracelog_instance_t *log)
{
    int cpus = (int)kymo_cpus();
    int count = log->kernel_buffers + (log->more_buffers + cpus - 1) / cpus;
    struct kymo_trace_owner owner;
    uint64_t paddr;
    long result = TraceEvent((int)_NTO_TRACE_ALLOCBUFFER, count, &paddr);

    /* A ring keeps running when its logger dies: without an owner. */
    if (result < 0 && errno == EEXIST && TraceEvent((int)KYMO_TRACE_QUERYOWNER, &owner) == 0 &&
        owner.gone && TraceEvent((int)_NTO_TRACE_STOP) == 0) {
        result = TraceEvent((int)_NTO_TRACE_ALLOCBUFFER, count, &paddr);
    }
    return result;
}

static void close_all(tracelog_instance_t *log)
{
    if (log->hook >= 0) {
        InterruptDetach(log->hook);
    }
    if (log->buffers.block) {
        capture_buffers_unmap(&log->buffers);
        TraceEvent((int)_NTO_TRACE_DEALLOCBUFFER);
    }
    tracelog_detach_names(log);
    if (log->coid >= 0) {
        ConnectDetach(log->coid);
    }
    if (log->chid >= 0) {
        ChannelDestroy(log->chid);
    }
}

static int open_channel(tracelog_instance_t *log)
{
    struct sigevent event;

    log->chid = ChannelCreate(_NTO_CHF_FIXED_PRIORITY);
    log->coid = log->chid < 0 ? -1 : ConnectAttach(0, 0, log->chid, _NTO_SIDE_CHANNEL, 0);
    log->names[0] = log->coid < 0 ? -1 : NameAttach(TRACELOGGER_LOCK, log->chid);
    if (log->names[0] < 0) {
        return -1;
    }
    SIGEV_PULSE_INIT(&event, log->coid, SIGEV_PULSE_PRIO_INHERIT, TRACELOG_HOOK, 0);
    log->hook = InterruptAttachEvent((int)_NTO_HOOK_TRACE, &event, 0);
    return log->hook < 0 ? -1 : 0;
}

static int open_buffers(tracelog_instance_t *log)
{
    if (allocate(log) < 0) {
        return -1;
    }
    if (capture_buffers_map(&log->buffers) != 0) {
        int error = errno;

        TraceEvent((int)_NTO_TRACE_DEALLOCBUFFER);
        errno = error;
        return -1;
    }
    return TraceEvent((int)(log->ring ? _NTO_TRACE_SETRINGMODE : _NTO_TRACE_SETLINEARMODE)) < 0 ? -1
                                                                                                : 0;
}

/* The program has set the filters by TraceEvent(), and may change them. */
static bool filter_row(unsigned n, char key[PANIC_KEY], char value[PANIC_VALUE])
{
    static const char *const rows[] = {"set by applications", "form set by applications",
                                       "limits to processes set by applications"};

    if (n >= sizeof(rows) / sizeof(rows[0])) {
        return false;
    }
    snprintf(key, PANIC_KEY, "FILTER_%u", n + 1);
    snprintf(value, PANIC_VALUE, "%s", rows[n]);
    return true;
}

/* Writes the capture's header; returns an errno. */
static int begin(tracelog_instance_t *log)
{
    struct kymo_trace_owner owner = {.name = ""};
    char args[KYMO_TRACE_NAME_MAX + 24];

    TraceEvent((int)KYMO_TRACE_QUERYOWNER, &owner);
    snprintf(args, sizeof(args), "%s%s (sys/tracelog.h)", owner.name, log->ring ? " -r" : "");
    struct capture_header header = {
        .file = "-", .args = args, .rows = filter_row, .check = &log->check};
    int result = capture_header_write(&header, tracelog_put, log);

    return result > 0 ? EIO : log->error;
}

/* Prepares everything needed before START; on an errno nothing remains. */
static int prepare(tracelog_instance_t *log)
{
    int error = 0;

    log->chid = log->coid = log->hook = log->names[0] = log->names[1] = -1;
    log->error = log->stopper = 0;
    memset(&log->account, 0, sizeof(log->account));
    capture_idle_begin(&log->idle, log->ring ? 0 : CAPTURE_IDLE_MS, kymo_cpus(),
                       kymo_cycles_per_sec());
    if (open_channel(log) < 0 || open_buffers(log) < 0) {
        error = errno;
    }
    error = error ? error : begin(log);
    error = error ? error : pthread_create(&log->thread, NULL, tracelog_loop, log);
    if (error) {
        close_all(log);
    }
    return error;
}

/* ---- what the program calls -------------------------------------------------------- */

static int join(tracelog_instance_t *log)
{
    int error = pthread_join(log->thread, NULL);

    if (error == 0) {
        log->hook = -1;
        close_all(log);
        recording = NULL;
        atomic_store(&log->phase, IDLE);
    }
    return error ? error : log->error;
}

int tracelog_start(tracelog_instance_t *log, int state)
{
    if (!log || !log->write) {
        return EINVAL;
    }
    if (!tracelog_is_acquired() || recording) {
        return recording ? EBUSY : EPERM;
    }
    int error = prepare(log);
    if (error != 0) {
        return error;
    }
    recording = log;
    atomic_store(&log->phase, STARTING);
    bool began = TraceEvent((int)(state ? _NTO_TRACE_START : _NTO_TRACE_STARTNOSTATE)) >= 0;
    error = began ? 0 : errno;
    log->names[1] = began ? NameAttach(TRACELOGGER_NAME, log->chid) : -1;
    atomic_store(&log->phase, began ? RUNNING : STOPPING);
    MsgSendPulse(log->coid, SIGEV_PULSE_PRIO_INHERIT, began ? TRACELOG_LOOK : TRACELOG_DONE, 0);
    if (!began) {
        join(log);
    }
    return error;
}

int tracelog_stop(tracelog_instance_t *log)
{
    if (!log || log != recording) {
        return EINVAL;
    }
    if (!tracelog_leaves_running(log, STOPPING)) {
        return atomic_load(&log->phase) == STARTING ? EINVAL : 0;
    }
    int error = TraceEvent((int)_NTO_TRACE_STOP) < 0 ? errno : 0;
    MsgSendPulse(log->coid, SIGEV_PULSE_PRIO_INHERIT, TRACELOG_DONE, 0);
    return error;
}

int tracelog_wait(void)
{
    /* EDEADLK from pthread_join() if it waits for itself */
    return recording ? join(recording) : EINVAL;
}
