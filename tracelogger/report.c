/* SPDX-License-Identifier: BSD-2-Clause */
/* The summary: from the kernel's own account (QUERYLOSS), which counts events, not slots. */
#include "tracelogger/report.h"

#include <stdio.h>

#include "abi/sys/trace.h"
#include "lib/include/kymo.h"
#include "trace/slot.h"
#include "tracelogger/need.h"
#include "tracelogger/sink.h"

static const char *const logger_report_class_names[KYMO_TRACE_CLASSES] = {
    [TRACE_CLASS_EMPTY] = "EMPTY",
    [TRACE_CLASS_CONTROL] = "CONTROL",
    [TRACE_CLASS_KER_CALL] = "KER_CALL",
    [TRACE_CLASS_INT] = "INT",
    [TRACE_CLASS_PR_TH] = "PR_TH",
    [TRACE_CLASS_SYSTEM] = "SYSTEM",
    [TRACE_CLASS_USER] = "USER",
    [TRACE_CLASS_COMM] = "COMM",
    [TRACE_CLASS_D] = "D",
    [TRACE_CLASS_KYMO_CALL] = "KYMO_CALL",
};

static const char *const reason_names[KYMO_DROP_REASONS] = {
#define R(number, name, text, doc) [number] = text,
    KYMO_DROP_REASON_LIST(R)
#undef R
};

const char *report_class_name(unsigned class)
{
    return logger_report_class_names[class] ? logger_report_class_names[class] : "?";
}

struct totals {
    uint64_t made, lost, recycled;
    uint32_t buffers;
};

/*
 * Returns the buffers with which this CPU would have lost nothing: those it had, and the largest
 * backlog beyond them (need.h). A buffer without a FREE one after it is used to its last slot, any
 * other to the high-water mark; the logger's own events grow with the data that it writes, and one
 * CPU's backlog delays another's.
 */
#define MARGIN 4
static uint64_t buffers_needed(const struct capture *capture, uint32_t cpu,
                               const struct kymo_trace_loss *loss, uint64_t written_events)
{
    uint64_t had = capture->buffers.bytes / TRACE_BUFFER_BYTES / kymo_cpus();
    uint64_t slots = had * TRACE_BUFFER_SLOTS;

    slots += need_slots(cpu, loss, capture->slots, written_events);
    slots += slots / MARGIN;
    return (slots + TRACE_HIGH_WATER - 1) / TRACE_HIGH_WATER + 1;
}

static uint64_t for_want_of_buffers(const struct kymo_trace_loss *loss)
{
    return loss->lost_reason[KYMO_DROP_OVERWRITTEN] + loss->lost_reason[KYMO_DROP_NOBUFFER];
}

/* Adds a CPU's account, and prints its losses by class and by reason. */
static void add_cpu(const struct kymo_trace_loss *loss, uint32_t cpu, struct totals *totals)
{
    totals->made += loss->made;
    totals->recycled += loss->recycled;
    totals->buffers += loss->buffers_closed;
    for (unsigned i = 0; i < KYMO_TRACE_CLASSES; i++) {
        if (loss->lost[i]) {
            printf("  CPU %u lost %llu of class %s\n", (unsigned)cpu,
                   (unsigned long long)loss->lost[i], report_class_name(i));
            totals->lost += loss->lost[i];
        }
    }
    for (unsigned i = 0; i < KYMO_TRACE_REASONS; i++) {
        if (loss->lost_reason[i]) {
            printf("  CPU %u lost %llu because: %s\n", (unsigned)cpu,
                   (unsigned long long)loss->lost_reason[i],
                   reason_names[i] ? reason_names[i] : "?");
        }
    }
}

static struct kymo_trace_loss *account_of(uint32_t cpu)
{
    static struct kymo_trace_loss loss;

    return TraceEvent(KYMO_TRACE_QUERYLOSS, cpu, &loss) == 0 ? &loss : NULL;
}

/* Returns the result of the worst CPU; all of them determine the length of an event. */
uint64_t report_needed(const struct capture *capture)
{
    uint64_t written = 0, most = 0;

    for (uint32_t cpu = 0; cpu < kymo_cpus(); cpu++) {
        const struct kymo_trace_loss *loss = account_of(cpu);

        written += loss ? loss->made : 0;
        for (unsigned i = 0; loss && i < KYMO_TRACE_CLASSES; i++) {
            written -= loss->lost[i];
        }
    }
    for (uint32_t cpu = 0; cpu < kymo_cpus() && cpu < CAPTURE_CPUS_MAX; cpu++) {
        const struct kymo_trace_loss *loss = account_of(cpu);

        if (loss && for_want_of_buffers(loss) != 0) {
            uint64_t needed = buffers_needed(capture, cpu, loss, written);

            most = needed > most ? needed : most;
        }
    }
    return most;
}

uint64_t report_lost(uint32_t cpu)
{
    const struct kymo_trace_loss *loss = account_of(cpu);

    return loss ? for_want_of_buffers(loss) : 0;
}

void report(const struct capture *capture, struct tracelogger_summary *summary)
{
    struct totals totals = {.made = capture->refused_times};

    for (uint32_t cpu = 0; cpu < kymo_cpus(); cpu++) {
        const struct kymo_trace_loss *loss = account_of(cpu);

        if (loss) {
            add_cpu(loss, cpu, &totals);
        }
    }
    uint64_t needed = report_needed(capture);
    printf("tracelogger: %llu events, %llu lost; %u buffers, %u written with %llu slots; %llu "
           "bytes in %s\n",
           (unsigned long long)totals.made, (unsigned long long)totals.lost,
           (unsigned)totals.buffers, (unsigned)capture->written, (unsigned long long)capture->slots,
           (unsigned long long)sink_bytes(), capture->options->file);
    if (capture->unwritten) {
        printf("tracelogger: INCOMPLETE: buffers with %llu slots could not be written\n",
               (unsigned long long)capture->unwritten);
    }
    if (capture->cut) {
        printf("tracelogger: the size of -S %llu is reached: the capture ends with a whole buffer, "
               "and the %llu events after it are counted in it as lost\n",
               (unsigned long long)capture->options->size, (unsigned long long)capture->refused);
    } else if (capture->refused && !sink_failed()) {
        printf("tracelogger: the %llu events in them are counted in the capture as lost\n",
               (unsigned long long)capture->refused);
    }
    if (totals.recycled) {
        printf("tracelogger: %llu older events were overwritten by newer ones\n",
               (unsigned long long)totals.recycled);
    }
    if (needed > KERNEL_BUFFERS_MOST) {
        printf("tracelogger: %llu buffers per CPU would have avoided the losses, more than -k "
               "can be: give the tracelogger a higher priority\n",
               (unsigned long long)needed);
    } else if (needed) {
        printf("tracelogger: -k %u would have avoided the losses\n", (unsigned)needed);
    }
    summary->events = totals.made;
    summary->lost = totals.lost;
    summary->advice = needed <= KERNEL_BUFFERS_MOST ? (uint32_t)needed : 0;
}
