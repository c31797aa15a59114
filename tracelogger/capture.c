/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's buffers: see capture.h, docs/ring.md. */
#include "tracelogger/capture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/include/kymo.h"
#include "kernel/abi/sys/trace.h"
#include "trace/slot.h"
#include "tracelogger/refused.h"
#include "tracelogger/sink.h"

#define AT_ONCE 4 /* buffers carried before pulses are looked at again */

static int trouble(const char *what)
{
    printf("tracelogger: %s: %s\n", what, strerror(errno));
    return -1;
}

/* A ring goes on when its logger dies, and keeps its buffers: they are nobody's, so whoever is able
 * may set the mode, but not while it runs. */
static bool ring_is_orphan(void)
{
    return TraceEvent(_NTO_TRACE_SETRINGMODE) < 0 && errno == ECANCELED;
}

static long get_buffers(unsigned count)
{
    uint64_t paddr = 0;
    long result = TraceEvent(_NTO_TRACE_ALLOCBUFFER, count, &paddr);

    if (result < 0 && errno == EEXIST) {
        if (!ring_is_orphan() || TraceEvent(_NTO_TRACE_STOP) < 0) {
            errno = EEXIST;
            return -1;
        }
        printf("tracelogger: stopped a ring whose logger is gone\n");
        result = TraceEvent(_NTO_TRACE_ALLOCBUFFER, count, &paddr);
    }
    return result;
}

static int allocate(struct capture *capture)
{
    unsigned count = capture->options->kernel_buffers;

    if (get_buffers(count) == 0) {
        return 0;
    }
    switch (errno) {
    case ENOMEM:
        printf("tracelogger: no contiguous memory for -k %u: %u buffers of 16 KB\n", count,
               count * kymo_cpus());
        return -1;
    case EPERM:
        printf("tracelogger: it needs the abilities trace, interrupt and host\n");
        return -1;
    case EEXIST:
        printf("tracelogger: another process records\n");
        return -1;
    default:
        return trouble("kernel buffers");
    }
}

static int map(struct capture *capture)
{
    struct kymo_map request = {.flags = KYMO_MAP_TRACE | KYMO_PROT_READ};
    uint64_t wanted = (uint64_t)capture->options->kernel_buffers * kymo_cpus();

    if (MemMap(&request) < 0) {
        return trouble("mapping the kernel buffers");
    }
    capture->block = (const uint8_t *)(uintptr_t)request.vaddr;
    capture->block_bytes = request.len;
    if (capture->options->verbose && request.len / TRACE_BUFFER_BYTES != wanted) {
        printf("tracelogger: %u buffers were made of %u\n",
               (unsigned)(request.len / TRACE_BUFFER_BYTES), (unsigned)wanted);
    }
    return 0;
}

/* Everything is on except what -F names; the numbers are the option's, not classes. */
static int set_filters(const struct options *options)
{
    static const int class_of[FILTERS] = {
        [1] = _NTO_TRACE_KERCALL, [2] = _NTO_TRACE_INT,  [3] = _NTO_TRACE_PROCESS,
        [4] = _NTO_TRACE_THREAD,  [6] = _NTO_TRACE_COMM, [7] = _NTO_TRACE_SYSTEM,
    };

    if (TraceEvent(_NTO_TRACE_ADDALLCLASSES) < 0) {
        return -1;
    }
    for (int i = 0; i < FILTERS; i++) {
        if ((options->without >> i & 1) && class_of[i] &&
            TraceEvent(_NTO_TRACE_DELCLASS, class_of[i]) < 0) {
            return -1;
        }
    }
    return TraceEvent(options->wide ? _NTO_TRACE_SETALLCLASSESWIDE : _NTO_TRACE_SETALLCLASSESFAST);
}

static int set_mode(struct capture *capture)
{
    bool ring = capture->options->mode == MODE_RING;

    capture->ring_running = ring;
    return TraceEvent(ring ? _NTO_TRACE_SETRINGMODE : _NTO_TRACE_SETLINEARMODE);
}

int capture_open(struct capture *capture, const struct options *options)
{
    memset(capture, 0, sizeof(*capture));
    capture->options = options;
    if (allocate(capture) != 0) {
        return -1;
    }
    if (map(capture) != 0) {
        capture_close(capture);
        return -1;
    }
    if (set_filters(options) < 0 || set_mode(capture) < 0) {
        trouble("filters and mode");
        capture_close(capture);
        return -1;
    }
    return 0;
}

static bool plausible(const struct capture *capture, const struct kymo_trace_buffer *taken)
{
    uint64_t end = ((uint64_t)taken->index + 1) * TRACE_BUFFER_BYTES;

    return end <= capture->block_bytes && taken->slots <= TRACE_BUFFER_SLOTS &&
           taken->cpu < CPUS_MAX && taken->slots > 0;
}

static int write_buffer(struct capture *capture, const struct kymo_trace_buffer *taken)
{
    if (!plausible(capture, taken)) {
        printf("tracelogger: the kernel gave an impossible buffer\n");
        return -1;
    }
    const struct trace_slot *slots =
        (const void *)(capture->block + (size_t)taken->index * TRACE_BUFFER_BYTES);
    int result = sink_buffer(slots, taken->slots, taken->cpu);
    if (result == 0) {
        capture->last_time[taken->cpu] = slots[taken->slots - 1].time;
        capture->written++;
        capture->slots += taken->slots;
    } else {
        capture->unwritten += taken->slots;
    }
    if (result > 0 && refused_account(capture, taken->cpu, slots, taken->slots) != 0) {
        return -1;
    }
    return result == SINK_LOST ? 0 : result;
}

/* Takes one buffer if one is READY and the limit is not reached: 1; none: 0; -1: it is lost. */
static int carry(struct capture *capture, uint32_t limit)
{
    struct kymo_trace_buffer taken;

    if (capture->ring_running || (limit != 0 && capture->written >= limit) ||
        TraceEvent(KYMO_TRACE_TAKEBUFFER, &taken) < 0) {
        return 0;
    }
    int result = write_buffer(capture, &taken);
    if (TraceEvent(KYMO_TRACE_GIVEBUFFER, taken.index) < 0) {
        result = trouble("giving a buffer back");
    }
    if (capture->options->verbose > 1) {
        printf("tracelogger: CPU %u buffer %u: %u slots\n", (unsigned)taken.cpu,
               (unsigned)taken.sequence, (unsigned)taken.slots);
    }
    return result == 0 ? 1 : -1;
}

/*
 * Goes on after a failure: START waits for buffers that only this gives back. While the recording
 * runs it is bounded: carrying a buffer over a slow link can make more events than a buffer holds.
 */
int capture_drain(struct capture *capture, bool limited)
{
    uint32_t limit = limited ? capture->options->buffers : 0;
    uint32_t most = limited ? AT_ONCE : UINT32_MAX;
    int result = 0;
    int carried = 1;

    for (uint32_t i = 0; i < most && carried != 0; i++) {
        carried = carry(capture, limit);
        if (carried < 0) {
            result = -1;
        }
    }
    capture->more = carried != 0;
    return result;
}

/* A DROPPED slot behind everything else; more than one if 32 bits don't hold the count. */
int capture_dropped(const struct capture *capture, uint32_t cpu, uint32_t reason_class,
                    uint64_t events)
{
    while (events != 0) {
        uint32_t n = events < UINT32_MAX ? (uint32_t)events : UINT32_MAX;
        struct trace_slot slot = {
            .header = TRACE_HEADER(cpu, TRACE_STRUCT_S, TRACE_CLASS_CONTROL, TRACE_CONTROL_DROPPED),
            .time = capture->last_time[cpu],
            .d1 = reason_class,
            .d2 = n,
        };

        if (sink_slots(&slot, 1) != 0) {
            return -1;
        }
        events -= n;
    }
    return 0;
}

/* One CPU's pending losses, by reason and class. */
static int pending_slots(const struct capture *capture, uint32_t cpu,
                         const struct kymo_trace_loss *loss)
{
    for (uint32_t reason = 0; reason < KYMO_TRACE_REASONS; reason++) {
        for (uint32_t class = 0; class < KYMO_TRACE_CLASSES; class ++) {
            if (capture_dropped(capture, cpu, reason << 8 | class, loss->pending[reason][class])) {
                return -1;
            }
        }
    }
    return 0;
}

int capture_pending(struct capture *capture)
{
    static struct kymo_trace_loss loss;

    for (uint32_t cpu = 0; cpu < kymo_cpus() && cpu < CPUS_MAX; cpu++) {
        if (TraceEvent(KYMO_TRACE_QUERYLOSS, cpu, &loss) < 0) {
            return trouble("asking for losses");
        }
        if (pending_slots(capture, cpu, &loss) != 0) {
            return -1;
        }
    }
    return 0;
}

void capture_close(struct capture *capture)
{
    if (capture->block) {
        MemUnmap((void *)(uintptr_t)capture->block, (size_t)capture->block_bytes);
        capture->block = NULL;
    }
    TraceEvent(_NTO_TRACE_DEALLOCBUFFER);
}
