/* SPDX-License-Identifier: BSD-2-Clause */
/* Buffers on their way from the kernel to the sink: see capture.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kernel/abi/sys/neutrino.h"
#include "kernel/abi/sys/trace.h"
#include "lib/include/kymo.h"
#include "trace/slot.h"
#include "tracelogger/capture.h"
#include "tracelogger/lag.h"
#include "tracelogger/refused.h"
#include "tracelogger/sink.h"

#define AT_ONCE 4 /* buffers carried before pulses are looked at again */

static int trouble(const char *what)
{
    printf("tracelogger: %s: %s\n", what, strerror(errno));
    return -1;
}

/* Room that -S keeps for the losses behind the last buffer: a slot for each CPU, reason, class. */
static uint64_t reserve(void)
{
    return (uint64_t)kymo_cpus() * KYMO_TRACE_REASONS * KYMO_TRACE_CLASSES * TRACE_SLOT_BYTES;
}

int capture_fits(const struct capture *capture)
{
    const struct options *options = capture->options;
    bool ring = options->mode == MODE_RING && !options->daemon;
    uint64_t least = sink_bytes() + reserve() + (ring ? capture->block_bytes : TRACE_BUFFER_BYTES);

    if (options->size == 0 || options->size >= least) {
        return 0;
    }
    printf("tracelogger: -S %llu is too small for the header, %s and the account of losses: at "
           "least %llu%s\n",
           (unsigned long long)options->size, ring ? "the ring" : "a buffer",
           (unsigned long long)least, ring ? ", or a smaller -k" : "");
    return -1;
}

/* -S: the first buffer that doesn't fit is the end. */
static bool is_cut(struct capture *capture, uint32_t slots)
{
    uint64_t size = capture->options->size;

    capture->cut |=
        size != 0 && sink_bytes() + (uint64_t)slots * TRACE_SLOT_BYTES + reserve() > size;
    return capture->cut;
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
    if (is_cut(capture, taken->slots)) {
        refused_account(capture, taken->cpu, slots, taken->slots, true);
        return 0;
    }
    lag_note(taken, slots);
    int result = sink_buffer(slots, taken->slots, taken->cpu);
    if (result == 0) {
        capture->last_time[taken->cpu] = slots[taken->slots - 1].time;
        capture->written++;
        capture->slots += taken->slots;
    } else {
        capture->unwritten += taken->slots;
    }
    if (result > 0 &&
        refused_account(capture, taken->cpu, slots, taken->slots, result == SINK_FULL) != 0) {
        return -1;
    }
    return result == SINK_LOST ? 0 : result;
}

/* Takes one buffer if one is READY and the limit is not reached: 1; none: 0; -1: it is lost. */
static int carry(struct capture *capture, uint32_t limit)
{
    struct kymo_trace_buffer taken;

    if ((limit != 0 && capture->written >= limit) ||
        TraceEvent(KYMO_TRACE_TAKEBUFFER, &taken) < 0) {
        return 0;
    }
    int result = write_buffer(capture, &taken);
    if (TraceEvent(KYMO_TRACE_GIVEBUFFER, taken.index) < 0) {
        result = trouble("giving a buffer back");
    }
    if (capture->options->verbose > 1) {
        printf("tracelogger: CPU %u buffer %u: %u slots%s\n", (unsigned)taken.cpu,
               (unsigned)taken.sequence, (unsigned)taken.slots,
               capture->cut ? ", counted as lost" : "");
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

/* One CPU's pending losses, by reason and class: the kernel's, and of what the sink refused. */
static int pending_slots(const struct capture *capture, uint32_t cpu,
                         const struct kymo_trace_loss *loss)
{
    for (uint32_t reason = 0; reason < KYMO_TRACE_REASONS; reason++) {
        for (uint32_t class = 0; class < KYMO_TRACE_CLASSES; class ++) {
            uint64_t events = loss->pending[reason][class] + refused_later(cpu, reason, class);

            if (capture_dropped(capture, cpu, reason << 8 | class, events) != 0) {
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
