/* SPDX-License-Identifier: BSD-2-Clause */
/* See refused.h. An event is its first slot; no event straddles two buffers. */
#include "tracelogger/refused.h"

#include <stdio.h>
#include <stdlib.h>

#include "abi/sys/trace.h"
#include "lib/include/kymo.h"

typedef uint64_t counts[KYMO_TRACE_REASONS][KYMO_TRACE_CLASSES];
static counts *refused_total_counts; /* for later, of each CPU */

int refused_open(void)
{
    refused_total_counts = calloc(kymo_cpus(), sizeof(*refused_total_counts));
    if (!refused_total_counts) {
        printf("tracelogger: not enough heap for the account of losses: start it with heap=%luk\n",
               (unsigned long)(kymo_cpus() * sizeof(*refused_total_counts) / 1024 + 16));
        return -1;
    }
    return 0;
}

static int refused_count_events(uint32_t cpu, uint32_t reason, uint32_t class, uint64_t events,
                                bool later)
{
    if (later) {
        refused_total_counts[cpu][reason % KYMO_TRACE_REASONS][class % KYMO_TRACE_CLASSES] +=
            events;
        return 0;
    }
    return capture_dropped(cpu, reason << 8 | class, events);
}

int refused_account(struct capture *capture, uint32_t cpu, const struct trace_slot *slots,
                    size_t number, bool later)
{
    uint64_t events[TRACE_CLASS_MAX] = {0};
    /* The gap that the buffer leaves in the capture needs an account: for a buffer without events
     * its TIME is lost, one of class CONTROL; its DROPPED slots account for other buffers. There is
     * no gap after a capture's end. */
    bool empty = !later;
    int result = 0;

    for (size_t i = 0; i < number && result == 0; i++) {
        uint32_t header = slots[i].header;
        uint32_t class = TRACE_GET_CLASS(header) % TRACE_CLASS_MAX;
        uint32_t structure = TRACE_GET_STRUCT(header);

        empty &= class == TRACE_CLASS_CONTROL;
        if (class != TRACE_CLASS_CONTROL) {
            events[class] += structure == TRACE_STRUCT_S || structure == TRACE_STRUCT_CB;
        } else if (TRACE_GET_EVENT(header) == TRACE_CONTROL_DROPPED) {
            result =
                refused_count_events(cpu, slots[i].d1 >> 8, slots[i].d1 & 0xff, slots[i].d2, later);
        }
    }
    events[TRACE_CLASS_CONTROL] += empty;
    capture->refused_times += empty;
    for (uint32_t class = 0; class < TRACE_CLASS_MAX && result == 0; class ++) {
        capture->refused += events[class];
        result = refused_count_events(cpu, KYMO_DROP_UNWRITTEN, class, events[class], later);
    }
    return result;
}

uint64_t refused_later(uint32_t cpu, uint32_t reason, uint32_t class)
{
    return refused_total_counts[cpu][reason][class];
}
