/* SPDX-License-Identifier: BSD-2-Clause */
/* Moves buffers from the kernel to the sink: see capture.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "abi/sys/neutrino.h"
#include "abi/sys/trace.h"
#include "abi/syspage.h"
#include "lib/capture/losses.h"
#include "lib/include/kymo.h"
#include "trace/slot.h"
#include "tracelogger/capture.h"
#include "tracelogger/lag.h"
#include "tracelogger/need.h"
#include "tracelogger/recycled.h"
#include "tracelogger/refused.h"
#include "tracelogger/sink.h"

#define AT_ONCE 4 /* buffers, or SINK_TOGETHER, written before pulses are checked again */
#define CAPTURE_GROUP_BYTES ((uint64_t)TRACE_BUFFER_BYTES + CAPTURE_TRAILER_BYTES)
/* Handles START's buffer. */
#define FIRST_BYTES ((2 + CAPTURE_TRAILER_SLOTS) * (uint64_t)TRACE_SLOT_BYTES)
#define RECYCLED_BYTES ((RECYCLED_SLOTS + CAPTURE_TRAILER_SLOTS) * (uint64_t)TRACE_SLOT_BYTES)
#define HELD_PART 4 /* of all buffers, the part held at once at most */

/* The held buffers. */
static struct kymo_trace_buffer carry_held_buffers[SINK_TOGETHER];
static struct sink_buffer carry_sink_buffers[SINK_TOGETHER];

static int carry_print_trouble(const char *what)
{
    printf("tracelogger: %s: %s\n", what, strerror(errno));
    return -1;
}

/* Returns the room that -S reserves for the capture's end: for each CPU the losses after the last
 * buffer, a slot for each reason and class, and the end mark. */
static uint64_t carry_reserve_bytes(void)
{
    uint64_t slots = KYMO_TRACE_REASONS * KYMO_TRACE_CLASSES + CAPTURE_END_SLOTS;

    return kymo_cpus() * slots * TRACE_SLOT_BYTES;
}

/* A ring that is written more than once (-d1 -r): between two runs buffers are overwritten. */
static bool has_later_runs(const struct capture *capture)
{
    return capture->options->mode == MODE_RING && capture->options->daemon;
}

static uint64_t recycled_bytes(const struct capture *capture)
{
    return has_later_runs(capture) ? RECYCLED_BYTES : 0;
}

int capture_fits(const struct capture *capture)
{
    const struct options *options = capture->options;
    bool ring = options->mode == MODE_RING && !options->daemon;
    uint64_t buffers = capture->buffers.bytes / TRACE_BUFFER_BYTES;
    struct kymo_syspage page = {0};

    /* Before the header is written, a lower bound of it: the system page. */
    if (sink_bytes() == 0) {
        SyspageRead(0, &page, sizeof(page));
    }
    uint64_t least = sink_bytes() + page.size + carry_reserve_bytes() +
                     (ring ? buffers : 1) * CAPTURE_GROUP_BYTES + kymo_cpus() * FIRST_BYTES +
                     recycled_bytes(capture);

    if (options->size == 0 || options->size >= least) {
        return 0;
    }
    printf("tracelogger: -S %llu is too small for the header, %s and the account of losses: give "
           "at least %llu%s\n",
           (unsigned long long)options->size, ring ? "the ring" : "a buffer",
           (unsigned long long)least, ring ? ", or a smaller -k" : "");
    return -1;
}

static int carry_put_slots(void *to, const void *slots, size_t bytes)
{
    (void)to;
    return sink_slots(slots, bytes / TRACE_SLOT_BYTES);
}

/* Accounts for the sink's result for one buffer: returns 0, or an error that ends the capture. */
static int carry_account_buffer(struct capture *capture, const struct sink_buffer *buffer)
{
    const struct trace_slot *slots = buffer->slots;
    int result = buffer->result;

    if (result == 0) {
        capture->written++;
        capture->counted += !buffer->extra;
        capture->slots += buffer->count;
    } else {
        capture->unwritten += buffer->count;
    }
    if (result > 0 &&
        (refused_account(capture, buffer->cpu, slots, buffer->count, result == SINK_FULL) != 0 ||
         capture_losses_close(&sink_check, buffer->cpu, carry_put_slots, NULL) != 0)) {
        return -1;
    }
    return result == SINK_LOST ? 0 : result;
}

/* Adds one of the held buffers to those for the sink, if it is to be written. -S: the first buffer
 * that doesn't fit ends the capture. */
static int carry_add_buffer(struct capture *capture, const struct kymo_trace_buffer *buffer,
                            unsigned *count)
{
    const struct trace_slot *slots = capture_buffers_slots(&capture->buffers, buffer);
    uint64_t size = capture->options->size;
    uint64_t after = CAPTURE_TRAILER_BYTES + recycled_bytes(capture) + carry_reserve_bytes();

    if (!slots) {
        printf("tracelogger: the kernel returned a buffer that is not one of this ring\n");
        return -1;
    }
    capture->cut |=
        size != 0 && sink_bytes() + (uint64_t)buffer->slots * TRACE_SLOT_BYTES + after > size;
    if (capture->cut) {
        refused_account(capture, buffer->cpu, slots, buffer->slots, true);
        return 0;
    }
    bool extra = capture_idle_taken(&capture->idle, buffer, slots);
    lag_note(buffer, slots);
    need_note(buffer, slots);
    if (has_later_runs(capture)) {
        recycled_note(buffer);
    }
    carry_sink_buffers[(*count)++] =
        (struct sink_buffer){slots, buffer->slots, buffer->cpu, 0, extra};
    return 0;
}

static int write_buffers(struct capture *capture, unsigned in_hand)
{
    unsigned count = 0;
    int result = 0;

    for (unsigned i = 0; i < in_hand; i++) {
        result |= carry_add_buffer(capture, &carry_held_buffers[i], &count);
    }
    sink_buffers(carry_sink_buffers, count);
    uint64_t stored = 0; /* CPUs whose last buffer here the sink has */
    for (unsigned i = 0; i < count; i++) {
        uint64_t cpu = UINT64_C(1) << carry_sink_buffers[i].cpu % CAPTURE_CPUS_MAX;

        stored = carry_sink_buffers[i].result == 0 ? stored | cpu : stored & ~cpu;
        result |= carry_account_buffer(capture, &carry_sink_buffers[i]);
    }
    return has_later_runs(capture) ? result | recycled_write(stored) : result;
}

/* With -S the bytes written must be known before each buffer. */
static unsigned most_in_hand(const struct capture *capture)
{
    uint64_t part = capture->buffers.bytes / TRACE_BUFFER_BYTES / HELD_PART;
    unsigned together = capture->options->size ? 1 : sink_together();

    return part >= together ? together : part > 0 ? (unsigned)part : 1;
}

/* Takes READY buffers, up to `most` and the limit. Returns 1; none: 0; -1: something was lost. */
static int carry_take_buffers(struct capture *capture, uint32_t limit)
{
    unsigned most = most_in_hand(capture), in_hand = 0;

    while (in_hand < most && (limit == 0 || capture->counted + in_hand < limit) &&
           TraceEvent(KYMO_TRACE_TAKEBUFFER, &carry_held_buffers[in_hand]) >= 0) {
        in_hand++;
    }
    bool timed = need_is_open();
    if (in_hand == 0) {
        /* --idle. Asked when nothing is READY: a logger that is behind has no time to wait for the
         * CPUs, and under -icount each takes a turn to answer. What they give will be READY as any
         * other buffer. A recording that was stopped meanwhile refuses. */
        uint64_t due = limit == 0 || capture->counted < limit
                           ? capture_idle_due(&capture->idle, kymo_cpus())
                           : 0;

        if (due != 0) {
            TraceEvent(KYMO_TRACE_FLUSHCPUS, (uint32_t)due, (uint32_t)(due >> 32));
        }
        if (timed) {
            need_idle(ClockCycles());
        }
        return 0;
    }
    if (timed) {
        need_busy(ClockCycles());
    }
    int result = write_buffers(capture, in_hand);
    for (unsigned i = 0; i < in_hand; i++) {
        if (TraceEvent(KYMO_TRACE_GIVEBUFFER, carry_held_buffers[i].index) < 0) {
            result = carry_print_trouble("a buffer can't be given back to the kernel");
        }
        if (capture->options->verbose > 1) {
            printf("tracelogger: CPU %u buffer %u: %u slots%s\n",
                   (unsigned)carry_held_buffers[i].cpu, (unsigned)carry_held_buffers[i].sequence,
                   (unsigned)carry_held_buffers[i].slots, capture->cut ? ", counted as lost" : "");
        }
    }
    if (timed) {
        need_carried(ClockCycles(), in_hand);
    }
    return result == 0 ? 1 : -1;
}

/* Continues after a failure: START waits for buffers, which only this loop returns. */
static int carry_some(struct capture *capture, uint32_t limit, uint32_t most)
{
    int result = 0;
    int carried = 1;

    for (uint32_t i = 0; i < most && carried != 0; i++) {
        carried = carry_take_buffers(capture, limit);
        if (carried < 0) {
            result = -1;
        }
    }
    capture->more = carried != 0;
    return result;
}

int capture_drain(struct capture *capture, bool limited)
{
    uint32_t most = most_in_hand(capture) > 1 ? 1 : AT_ONCE;

    return carry_some(capture, limited ? capture->options->buffers : 0, most);
}

/* At most as many as there are buffers: an application may start again and again, and fill
 * others. */
int capture_rest(struct capture *capture)
{
    return carry_some(capture, 0, (uint32_t)(capture->buffers.bytes / TRACE_BUFFER_BYTES));
}

int capture_dropped(uint32_t cpu, uint32_t reason_class, uint64_t events)
{
    return capture_losses_slots(&sink_check, cpu, reason_class, events, carry_put_slots, NULL);
}

int capture_recycled(uint32_t cpu, uint64_t events)
{
    uint32_t reason_class = KYMO_DROP_RECYCLED << 8 | TRACE_CLASS_CONTROL;

    return capture_dropped(cpu, reason_class, events) != 0 ||
                   capture_losses_close(&sink_check, cpu, carry_put_slots, NULL) != 0
               ? -1
               : 0;
}

/* For each CPU the losses, by reason and class: the kernel's, and those of buffers that the sink
 * refused. */
int capture_pending(struct capture *capture)
{
    (void)capture;
    static struct kymo_trace_loss loss;

    for (uint32_t cpu = 0; cpu < kymo_cpus() && cpu < CAPTURE_CPUS_MAX; cpu++) {
        if (TraceEvent(KYMO_TRACE_QUERYLOSS, cpu, &loss) < 0) {
            return carry_print_trouble("the kernel's account of losses can't be read");
        }
        for (uint32_t i = 0; i < KYMO_TRACE_REASONS * KYMO_TRACE_CLASSES; i++) {
            uint32_t reason = i / KYMO_TRACE_CLASSES, class = i % KYMO_TRACE_CLASSES;

            loss.pending[reason][class] += refused_later(cpu, reason, class);
        }
        if (capture_losses_end(&sink_check, cpu, &loss, carry_put_slots, NULL) != 0) {
            return -1;
        }
    }
    return 0;
}
