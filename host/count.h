/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The number of events of a capture, as every command counts them: an event is one that was
 * recorded. The losses that the kernel and tracelogger count are of these, too. CONTROL, the
 * format's own marks, and what was added after the recording are counted apart. Proof:
 * test/host/counts.py.
 */
#ifndef HOST_COUNT_H
#define HOST_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/slot.h"

struct count {
    uint64_t events, control, added;
};

static inline void count_event(struct count *count, uint32_t class_id, bool injected)
{
    bool control = !injected && class_id == TRACE_CLASS_CONTROL;

    count->added += injected;
    count->control += control;
    count->events += !injected && !control;
}

#endif
