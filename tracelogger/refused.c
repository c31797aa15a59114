/* SPDX-License-Identifier: BSD-2-Clause */
/* See refused.h. An event is its first slot; no event straddles two buffers. */
#include "tracelogger/refused.h"

#include "kernel/abi/sys/trace.h"

int refused_account(struct capture *capture, uint32_t cpu, const struct trace_slot *slots,
                    size_t count)
{
    uint64_t events[TRACE_CLASS_MAX] = {0};
    int result = 0;

    for (size_t i = 0; i < count && result == 0; i++) {
        uint32_t header = slots[i].header;
        uint32_t class = TRACE_GET_CLASS(header) % TRACE_CLASS_MAX;
        uint32_t structure = TRACE_GET_STRUCT(header);

        if (class != TRACE_CLASS_CONTROL) {
            events[class] += structure == TRACE_STRUCT_S || structure == TRACE_STRUCT_CB;
        } else if (TRACE_GET_EVENT(header) == TRACE_CONTROL_DROPPED) {
            result = capture_dropped(capture, cpu, slots[i].d1, slots[i].d2);
        }
    }
    for (uint32_t class = 0; class < TRACE_CLASS_MAX && result == 0; class ++) {
        capture->refused += events[class];
        result = capture_dropped(capture, cpu, KYMO_DROP_UNWRITTEN << 8 | class, events[class]);
    }
    return result;
}
