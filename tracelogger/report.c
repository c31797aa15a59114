/* SPDX-License-Identifier: BSD-2-Clause */
/* The summary: from the kernel's own account (QUERYLOSS), which counts events, not slots. */
#include "tracelogger/report.h"

#include <stdio.h>

#include "kernel/abi/sys/trace.h"
#include "lib/include/kymo.h"
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
    uint32_t buffers, most;
    bool starved; /* some losses a larger -k would have avoided */
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

static void print_reasons(uint32_t cpu, const struct kymo_trace_loss *loss, struct totals *totals)
{
    for (unsigned i = 0; i < KYMO_TRACE_REASONS; i++) {
        if (loss->lost_reason[i]) {
            printf("  CPU %u lost %llu because: %s\n", (unsigned)cpu,
                   (unsigned long long)loss->lost_reason[i],
                   reason_names[i] ? reason_names[i] : "?");
        }
    }
    totals->starved |=
        loss->lost_reason[KYMO_DROP_OVERWRITTEN] || loss->lost_reason[KYMO_DROP_NOBUFFER];
}

static void add_cpu(uint32_t cpu, struct totals *totals)
{
    static struct kymo_trace_loss loss;

    if (TraceEvent(KYMO_TRACE_QUERYLOSS, cpu, &loss) < 0) {
        return;
    }
    totals->made += loss.made;
    totals->recycled += loss.recycled;
    totals->buffers += loss.buffers_closed;
    totals->most = loss.ready_most > totals->most ? loss.ready_most : totals->most;
    totals->lost += print_classes(cpu, &loss);
    print_reasons(cpu, &loss, totals);
}

void report(const struct capture *capture)
{
    struct totals totals = {0};

    for (uint32_t cpu = 0; cpu < kymo_cpus(); cpu++) {
        add_cpu(cpu, &totals);
    }
    printf("tracelogger: %llu events, %llu lost; %u buffers, %u written with %llu slots; %llu "
           "bytes in %s\n",
           (unsigned long long)totals.made, (unsigned long long)totals.lost,
           (unsigned)totals.buffers, (unsigned)capture->written, (unsigned long long)capture->slots,
           (unsigned long long)sink_bytes(), capture->options->file);
    if (capture->unwritten) {
        printf("tracelogger: INCOMPLETE: buffers with %llu slots could not be written\n",
               (unsigned long long)capture->unwritten);
    }
    if (totals.recycled) {
        printf("tracelogger: %llu older events gave way to newer ones\n",
               (unsigned long long)totals.recycled);
    }
    if (totals.starved) {
        printf("tracelogger: -k %u would have avoided the losses\n", (unsigned)totals.most + 1);
    }
}
