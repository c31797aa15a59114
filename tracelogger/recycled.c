/* SPDX-License-Identifier: BSD-2-Clause */
/* See recycled.h. Tested by test/board/modes.py, a_daemons_ring_is_written_at_each_stop;
 * check_test.c. */
#include "tracelogger/recycled.h"

#include "abi/sys/neutrino.h"
#include "trace/slot.h"
#include "tracelogger/capture.h"

static struct {
    uint32_t last;   /* sequence of the last buffer; 0: none yet */
    uint32_t gaps;   /* buffers before it that were overwritten */
    uint64_t events; /* recycled, by the previous query */
    uint64_t due;    /* events, not written yet */
    bool doubtful;   /* a gap was not covered by the kernel's count: no later one is excused */
} cpus[CAPTURE_CPUS_MAX];

/* The kernel's count may be ahead of the buffers here, never late. Each buffer counts for one event
 * at least: a reader also counts a buffer without events as one where it expects an account. */
static void gap_note(uint32_t cpu, uint32_t gap)
{
    static struct kymo_trace_loss loss;
    bool first = cpus[cpu].last == 0;

    if (cpus[cpu].doubtful || TraceEvent(KYMO_TRACE_QUERYLOSS, cpu, &loss) < 0 ||
        loss.lost_reason[KYMO_DROP_OVERWRITTEN] != 0 ||
        loss.buffers_overwritten - cpus[cpu].gaps < gap) {
        /* or the rest of the count from this gap would cover a later one */
        cpus[cpu].doubtful = true;
        return;
    }
    uint64_t events = loss.recycled - cpus[cpu].events;
    cpus[cpu].events = loss.recycled;
    cpus[cpu].gaps += gap;
    if (!first) { /* before the first one a reader expects none */
        cpus[cpu].due += events > gap ? events : gap;
    }
}

void recycled_note(const struct kymo_trace_buffer *buffer)
{
    uint32_t gap = buffer->sequence - cpus[buffer->cpu].last - 1;

    if (gap > 0) {
        gap_note(buffer->cpu, gap);
    }
    cpus[buffer->cpu].last = buffer->sequence;
}

int recycled_write(uint64_t stored)
{
    int result = 0;

    for (uint32_t cpu = 0; cpu < CAPTURE_CPUS_MAX; cpu++) {
        if (cpus[cpu].due > 0 && stored >> cpu & 1) {
            result |= capture_recycled(cpu, cpus[cpu].due);
            cpus[cpu].due = 0;
        }
    }
    return result;
}
