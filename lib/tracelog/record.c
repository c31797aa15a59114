/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One recording: tracelog_start(), _stop(), _wait() and, in between, its thread, which takes
 * buffers of the kernel, passes them to the program's writer and counts the events. See
 * sys/tracelog.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "abi/sys/kymo.h"
#include "abi/sys/neutrino.h"
#include "lib/capture/header.h"
#include "lib/capture/losses.h"
#include "lib/capture/protocol.h"
#include "lib/include/kymo.h"
#include "lib/tracelog/instance.h"

/* Pulses on the recording's channel. */
enum { PULSE_HOOK = 1, PULSE_LOOK = 2, PULSE_DONE = 3 };

static tracelog_instance_t *tracelog_recording;

bool tracelog_records(void)
{
    return tracelog_recording != NULL;
}

/* ---- buffers to the writer --------------------------------------------------------- */

/* capture_put_t: passes bytes to the writer, and counts those it has taken. */
static int tracelog_put_bytes(void *instance, const void *data, size_t bytes)
{
    struct tracelog_instance *log = instance;

    if (log->error != 0) {
        return -1;
    }
    errno = 0;
    ssize_t taken = log->write(log->cookie, data, bytes);
    if (taken > 0) {
        log->account.bytes += (size_t)taken < bytes ? (size_t)taken : bytes;
    }
    if (taken >= 0 && (size_t)taken >= bytes) {
        return 0;
    }
    log->error = taken < 0 && errno != 0 ? errno : EIO;
    return -1;
}

/* Returns the number of events whose last slot is among these. */
static uint32_t events_ending_in(const struct trace_slot *slots, size_t count)
{
    uint32_t events = 0;

    for (size_t i = 0; i < count; i++) {
        uint32_t structure = TRACE_GET_STRUCT(slots[i].header);

        events += TRACE_GET_CLASS(slots[i].header) != TRACE_CLASS_CONTROL &&
                  (structure == TRACE_STRUCT_S || structure == TRACE_STRUCT_CE);
    }
    return events;
}

static void write_buffer(tracelog_instance_t *log, const struct kymo_trace_buffer *taken)
{
    const struct trace_slot *slots = capture_buffers_slots(&log->buffers, taken);
    uint64_t before = log->account.bytes;

    if (!slots) {
        log->error = EIO; /* the kernel returned an impossible index */
        return;
    }
    capture_idle_taken(&log->idle, taken, slots);
    if (tracelog_put_bytes(log, slots, taken->slots * TRACE_SLOT_BYTES) == 0) {
        struct trace_slot trailer[CAPTURE_TRAILER_SLOTS];

        log->account.buffers++;
        capture_check_add(&log->check, slots, taken->slots);
        capture_check_close(&log->check, taken->cpu, trailer);
        tracelog_put_bytes(log, trailer, sizeof(trailer));
    } else {
        size_t whole = (size_t)(log->account.bytes - before) / TRACE_SLOT_BYTES;

        log->account.unwritten += events_ending_in(slots + whole, taken->slots - whole);
    }
}

/* Writes READY buffers, at most as many as there are; returns whether there may be more. Returns
 * unwritten buffers to the kernel, too: START waits for buffers, and the account for its end. If no
 * buffer is READY, it asks CPUs that have delivered none for a while, whose buffers will then be
 * READY. */
static bool tracelog_carry_buffers(tracelog_instance_t *log)
{
    uint64_t most = log->buffers.bytes / TRACE_BUFFER_BYTES;
    struct kymo_trace_buffer taken;

    for (uint64_t i = 0; i < most; i++) {
        if (TraceEvent((int)KYMO_TRACE_TAKEBUFFER, &taken) < 0) {
            uint64_t due = capture_idle_due(&log->idle, kymo_cpus());

            if (due != 0) {
                TraceEvent((int)KYMO_TRACE_FLUSHCPUS, (uint32_t)due, (uint32_t)(due >> 32));
            }
            return false;
        }
        write_buffer(log, &taken);
        TraceEvent((int)KYMO_TRACE_GIVEBUFFER, taken.index);
    }
    return true;
}

/* Called when the buffers are freed: gets the kernel's account, and writes the losses to the
 * capture. */
static void tracelog_settle_losses(tracelog_instance_t *log)
{
    for (uint32_t cpu = 0; cpu < kymo_cpus() && cpu < CAPTURE_CPUS_MAX; cpu++) {
        if (TraceEvent((int)KYMO_TRACE_QUERYLOSS, cpu, &log->loss) != 0) {
            continue;
        }
        log->account.made += log->loss.made;
        log->account.recycled += log->loss.recycled;
        for (unsigned i = 0; i < KYMO_TRACE_CLASSES; i++) {
            log->account.lost += log->loss.lost[i];
        }
        capture_losses_end(&log->check, cpu, &log->loss, tracelog_put_bytes, log);
    }
}

/* ---- the thread -------------------------------------------------------------------- */

/* Returns true for the thread that ends the recording. */
static bool leaves_running(tracelog_instance_t *log, int to)
{
    int from = RUNNING;

    return atomic_compare_exchange_strong(&log->phase, &from, to);
}

static bool stopped_by_another(tracelog_instance_t *log)
{
    struct kymo_trace_owner owner;
    bool runs = TraceEvent((int)KYMO_TRACE_QUERYOWNER, &owner) == 0 && owner.running;

    return !runs && leaves_running(log, ENDED);
}

/* Returns whether the writer has refused, or the end was requested. STOP doesn't wait for buffers,
 * not even in a ring. */
static bool is_to_end(tracelog_instance_t *log)
{
    if ((log->error == 0 && !log->stopper) || !leaves_running(log, ENDED)) {
        return false;
    }
    TraceEvent((int)_NTO_TRACE_STOP);
    return true;
}

/* Waits; returns whether the received event ends the recording. */
static bool tracelog_wait_next(tracelog_instance_t *log)
{
    union {
        struct _pulse pulse;
        struct tracelogger_msg msg;
    } in;
    struct _msg_info info;
    int rcvid = MsgReceive(log->chid, &in, sizeof(in), &info);

    if (rcvid > 0) { /* `tracestop`, replied when the capture is complete */
        if (info.msglen < sizeof(in.msg) || in.msg.type != TRACELOGGER_STOP) {
            MsgError(rcvid, ENOSYS);
        } else if (!kymo_may_control(&info, ABILITY_TRACE)) {
            MsgError(rcvid, EPERM);
        } else if (log->stopper) {
            MsgError(rcvid, EBUSY);
        } else {
            log->stopper = rcvid;
        }
    }
    return (rcvid == 0 && in.pulse.code == PULSE_DONE &&
            kymo_pulse_trusted(log->scoid, &in.pulse)) ||
           stopped_by_another(log);
}

static void detach_names(tracelog_instance_t *log)
{
    for (unsigned i = 0; i < sizeof(log->names) / sizeof(log->names[0]); i++) {
        if (log->names[i] >= 0) {
            NameDetach(log->names[i]);
            log->names[i] = -1;
        }
    }
}

/* The recording thread: sleeps until the kernel reports that a buffer is READY or that tracing has
 * stopped, or a program requests its end. */
static void *tracelog_run_recording(void *arg)
{
    tracelog_instance_t *log = arg;
    bool ended = false;

    while (!ended) {
        ended = tracelog_wait_next(log);
        if (tracelog_carry_buffers(log) && !ended) {
            MsgSendPulse(log->coid, SIGEV_PULSE_PRIO_INHERIT, PULSE_LOOK, 0);
        }
        ended = ended || is_to_end(log);
    }
    /* buffers that the stop has closed; an application may have started again */
    tracelog_carry_buffers(log);
    InterruptDetach(log->hook);
    capture_buffers_unmap(&log->buffers);
    TraceEvent((int)_NTO_TRACE_DEALLOCBUFFER);
    tracelog_settle_losses(log);
    detach_names(log); /* not earlier: the next recording begins a new account */
    if (log->stopper) {
        const struct tracelogger_summary summary = {
            .events = log->account.made,
            .lost = log->account.lost,
        };

        MsgReply(log->stopper, log->error != 0, &summary, sizeof(summary));
    }
    return NULL;
}

/* ---- its beginning ----------------------------------------------------------------- */

static long tracelog_allocate_buffers(const tracelog_instance_t *log)
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
    detach_names(log);
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
    log->scoid = kymo_own_scoid(log->coid);
    log->names[0] = log->coid < 0 ? -1 : NameAttach(TRACELOGGER_LOCK, log->chid);
    if (log->names[0] < 0) {
        return -1;
    }
    SIGEV_PULSE_INIT(&event, log->coid, SIGEV_PULSE_PRIO_INHERIT, PULSE_HOOK, 0);
    log->hook = InterruptAttachEvent((int)_NTO_HOOK_TRACE, &event, 0);
    return log->hook < 0 ? -1 : 0;
}

static int open_buffers(tracelog_instance_t *log)
{
    if (tracelog_allocate_buffers(log) < 0) {
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
static int tracelog_begin_capture(tracelog_instance_t *log)
{
    struct kymo_trace_owner owner = {.name = ""};
    char args[KYMO_TRACE_NAME_MAX + 24];

    TraceEvent((int)KYMO_TRACE_QUERYOWNER, &owner);
    snprintf(args, sizeof(args), "%s%s (sys/tracelog.h)", owner.name, log->ring ? " -r" : "");
    struct capture_header header = {
        .file = "-", .args = args, .rows = filter_row, .check = &log->check};
    int result = capture_header_write(&header, tracelog_put_bytes, log);

    return result > 0 ? EIO : log->error;
}

/* Allocates everything needed before START; after an error (errno) nothing remains. */
static int tracelog_prepare_recording(tracelog_instance_t *log)
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
    error = error ? error : tracelog_begin_capture(log);
    error = error ? error : pthread_create(&log->thread, NULL, tracelog_run_recording, log);
    if (error) {
        close_all(log);
    }
    return error;
}

/* ---- what the program calls -------------------------------------------------------- */

static int tracelog_join_thread(tracelog_instance_t *log)
{
    int error = pthread_join(log->thread, NULL);

    if (error == 0) {
        log->hook = -1;
        close_all(log);
        tracelog_recording = NULL;
        atomic_store(&log->phase, IDLE);
    }
    return error ? error : log->error;
}

int tracelog_start(tracelog_instance_t *log, int state)
{
    if (!log || !log->write) {
        return EINVAL;
    }
    if (!tracelog_is_acquired() || tracelog_recording) {
        return tracelog_recording ? EBUSY : EPERM;
    }
    int error = tracelog_prepare_recording(log);
    if (error != 0) {
        return error;
    }
    tracelog_recording = log;
    atomic_store(&log->phase, STARTING);
    bool began = TraceEvent((int)(state ? _NTO_TRACE_START : _NTO_TRACE_STARTNOSTATE)) >= 0;
    error = began ? 0 : errno;
    log->names[1] = began ? NameAttach(TRACELOGGER_NAME, log->chid) : -1;
    atomic_store(&log->phase, began ? RUNNING : STOPPING);
    MsgSendPulse(log->coid, SIGEV_PULSE_PRIO_INHERIT, began ? PULSE_LOOK : PULSE_DONE, 0);
    if (!began) {
        tracelog_join_thread(log);
    }
    return error;
}

int tracelog_stop(tracelog_instance_t *log)
{
    if (!log || log != tracelog_recording) {
        return EINVAL;
    }
    if (!leaves_running(log, STOPPING)) {
        return atomic_load(&log->phase) == STARTING ? EINVAL : 0;
    }
    int error = TraceEvent((int)_NTO_TRACE_STOP) < 0 ? errno : 0;
    MsgSendPulse(log->coid, SIGEV_PULSE_PRIO_INHERIT, PULSE_DONE, 0);
    return error;
}

int tracelog_wait(void)
{
    /* EDEADLK from pthread_join() if it waits for itself */
    return tracelog_recording ? tracelog_join_thread(tracelog_recording) : EINVAL;
}
