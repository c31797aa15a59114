/* SPDX-License-Identifier: BSD-2-Clause */
/* The summary: from the kernel's own account (QUERYLOSS), which counts events, not slots. */
#include "tracelogger/report.h"

#include <stdio.h>

#include "kernel/abi/sys/trace.h"
#include "lib/include/kymo.h"
#include "trace/slot.h"
#include "tracelogger/sink.h"

static const char *const class_names[KYMO_TRACE_CLASSES] = {
    "EMPTY", "CONTROL", "KER_CALL", "INT", "PR_TH", "SYSTEM", "USER", "COMM",
};

static const char *const reason_names[KYMO_TRACE_REASONS] = {
#define R(number, name, text, doc) [number] = text,
    KYMO_DROP_REASON_LIST(R)
#undef R
};

struct totals {
    uint64_t made, lost, recycled;
    uint32_t buffers;
    uint64_t needed; /* -k for the worst CPU; 0: nothing was lost for want of buffers */
};

static uint64_t print_classes(uint32_t cpu, const struct kymo_trace_loss *loss)
{
    uint64_t lost = 0;

    for (unsigned i = 0; i < KYMO_TRACE_CLASSES; i++) {
        if (loss->lost[i]) {
            printf("  CPU %u lost %llu of class %s\n", (unsigned)cpu,
                   (unsigned long long)loss->lost[i], class_names[i] ? class_names[i] : "?");
            lost += loss->lost[i];
        }
    }
    return lost;
}

static void print_reasons(uint32_t cpu, const struct kymo_trace_loss *loss)
{
    for (unsigned i = 0; i < KYMO_TRACE_REASONS; i++) {
        if (loss->lost_reason[i]) {
            printf("  CPU %u lost %llu because: %s\n", (unsigned)cpu,
                   (unsigned long long)loss->lost_reason[i],
                   reason_names[i] ? reason_names[i] : "?");
        }
    }
}

/*
 * Buffers with which this CPU would have lost nothing: all that it had and lost at once, as if the
 * logger had never caught up in between. A buffer that has no FREE one after it is used to its last
 * slot, any other to the high-water mark; and the logger's own events grow with what it writes.
 * Events that found no buffer at all are taken as long as the average one of the file.
 */
static uint64_t buffers_needed(const struct capture *capture, const struct kymo_trace_loss *loss,
                               uint64_t written_events)
{
    uint64_t had = capture->block_bytes / TRACE_BUFFER_BYTES / kymo_cpus();
    uint64_t events = loss->lost_reason[KYMO_DROP_NOBUFFER];
    uint64_t slots = (had + loss->buffers_overwritten) * TRACE_BUFFER_SLOTS;

    slots += written_events ? events * capture->slots / written_events : events;
    slots += slots / 8;
    return (slots + TRACE_HIGH_WATER - 1) / TRACE_HIGH_WATER + 1;
}

static void add_needed(const struct capture *capture, const struct kymo_trace_loss *loss,
                       struct totals *totals)
{
    uint64_t needed = buffers_needed(capture, loss, totals->made - totals->lost);

    if ((loss->lost_reason[KYMO_DROP_OVERWRITTEN] || loss->lost_reason[KYMO_DROP_NOBUFFER]) &&
        needed > totals->needed) {
        totals->needed = needed;
    }
}

static void add_cpu(const struct kymo_trace_loss *loss, uint32_t cpu, struct totals *totals)
{
    totals->made += loss->made;
    totals->recycled += loss->recycled;
    totals->buffers += loss->buffers_closed;
    totals->lost += print_classes(cpu, loss);
    print_reasons(cpu, loss);
}

/* Everything of one CPU, by the kernel's account. Twice: what is needed depends on all. */
static void add_cpus(const struct capture *capture, struct totals *totals)
{
    static struct kymo_trace_loss loss;

    for (uint32_t cpu = 0; cpu < kymo_cpus(); cpu++) {
        if (TraceEvent(KYMO_TRACE_QUERYLOSS, cpu, &loss) == 0) {
            add_cpu(&loss, cpu, totals);
        }
    }
    for (uint32_t cpu = 0; cpu < kymo_cpus(); cpu++) {
        if (TraceEvent(KYMO_TRACE_QUERYLOSS, cpu, &loss) == 0) {
            add_needed(capture, &loss, totals);
        }
    }
}

static void advise(uint64_t needed)
{
    if (needed <= KERNEL_BUFFERS_MOST) {
        printf("tracelogger: -k %u would have avoided the losses\n", (unsigned)needed);
    } else {
        printf("tracelogger: %llu buffers per CPU would have avoided the losses, more than -k "
               "can be: it needs more CPU time\n",
               (unsigned long long)needed);
    }
}

void report(const struct capture *capture, struct tracelogger_summary *summary)
{
    struct totals totals = {0};

    add_cpus(capture, &totals);
    printf("tracelogger: %llu events, %llu lost; %u buffers, %u written with %llu slots; %llu "
           "bytes in %s\n",
           (unsigned long long)totals.made, (unsigned long long)totals.lost,
           (unsigned)totals.buffers, (unsigned)capture->written, (unsigned long long)capture->slots,
           (unsigned long long)sink_bytes(), capture->options->file);
    if (capture->unwritten) {
        printf("tracelogger: INCOMPLETE: buffers with %llu slots could not be written\n",
               (unsigned long long)capture->unwritten);
    }
    if (capture->refused && !sink_failed()) {
        printf("tracelogger: the %llu events in them are counted in the capture as lost\n",
               (unsigned long long)capture->refused);
    }
    if (totals.recycled) {
        printf("tracelogger: %llu older events gave way to newer ones\n",
               (unsigned long long)totals.recycled);
    }
    if (totals.needed) {
        advise(totals.needed);
    }
    summary->events = totals.made;
    summary->lost = totals.lost;
    summary->advice = totals.needed <= KERNEL_BUFFERS_MOST ? (uint32_t)totals.needed : 0;
}
