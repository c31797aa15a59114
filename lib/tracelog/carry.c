/* SPDX-License-Identifier: BSD-2-Clause */
/* See internal.h: all calls of the writer, and the account of what it has taken. */
#include <errno.h>

#include "abi/sys/neutrino.h"
#include "lib/capture/losses.h"
#include "lib/include/kymo.h"
#include "lib/tracelog/internal.h"

int tracelog_put(void *instance, const void *data, size_t bytes)
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
    if (tracelog_put(log, slots, taken->slots * TRACE_SLOT_BYTES) == 0) {
        struct trace_slot trailer[CAPTURE_TRAILER_SLOTS];

        log->account.buffers++;
        capture_check_add(&log->check, slots, taken->slots);
        capture_check_close(&log->check, taken->cpu, trailer);
        tracelog_put(log, trailer, sizeof(trailer));
    } else {
        size_t whole = (size_t)(log->account.bytes - before) / TRACE_SLOT_BYTES;

        log->account.unwritten += events_ending_in(slots + whole, taken->slots - whole);
    }
}

/* Asks CPUs that have delivered nothing for a while; their buffers will then be READY. Only when
 * nothing else is READY: a logger that is behind has no time to wait for the CPUs. */
static void ask_idle(tracelog_instance_t *log)
{
    uint64_t due = capture_idle_due(&log->idle, kymo_cpus());

    if (due != 0) {
        TraceEvent((int)KYMO_TRACE_FLUSHCPUS, (uint32_t)due, (uint32_t)(due >> 32));
    }
}

/* Gives back unwritten buffers, too: START waits for buffers, and the account for its end. */
bool tracelog_carry(tracelog_instance_t *log)
{
    uint64_t most = log->buffers.bytes / TRACE_BUFFER_BYTES;
    struct kymo_trace_buffer taken;

    for (uint64_t i = 0; i < most; i++) {
        if (TraceEvent((int)KYMO_TRACE_TAKEBUFFER, &taken) < 0) {
            ask_idle(log);
            return false;
        }
        write_buffer(log, &taken);
        TraceEvent((int)KYMO_TRACE_GIVEBUFFER, taken.index);
    }
    return true;
}

static void add(struct tracelog_account *account, const struct kymo_trace_loss *loss)
{
    account->made += loss->made;
    account->recycled += loss->recycled;
    for (unsigned i = 0; i < KYMO_TRACE_CLASSES; i++) {
        account->lost += loss->lost[i];
    }
}

void tracelog_settle(tracelog_instance_t *log)
{
    for (uint32_t cpu = 0; cpu < kymo_cpus() && cpu < CAPTURE_CPUS_MAX; cpu++) {
        if (TraceEvent((int)KYMO_TRACE_QUERYLOSS, cpu, &log->loss) == 0) {
            add(&log->account, &log->loss);
            capture_losses_end(&log->check, cpu, &log->loss, tracelog_put, log);
        }
    }
}
