/* SPDX-License-Identifier: BSD-2-Clause */
/* See idle.h. */
#include "lib/capture/idle.h"

#define MS_PER_S 1000
#define HEAD_SLOTS 2 /* BUFFER and TIME */

void capture_idle_begin(struct capture_idle *idle, uint32_t ms, unsigned cpus,
                        uint64_t cycles_per_sec)
{
    *idle = (struct capture_idle){.cycles = 0};
    if (cpus > 1) {
        idle->cycles = cycles_per_sec / MS_PER_S * ms + cycles_per_sec % MS_PER_S * ms / MS_PER_S;
    }
}

/* Returns the time of a buffer's last slot. In the buffer of a CPU that was asked this is TIME; in
 * others at most one rollover follows the first TIME, else the returned time is too early. */
static uint64_t end_of(const struct trace_slot *slots, uint32_t count)
{
    const struct trace_slot *time = &slots[1], *last = &slots[count - 1];
    bool is_time = TRACE_GET_CLASS(last->header) == TRACE_CLASS_CONTROL &&
                   TRACE_GET_EVENT(last->header) == TRACE_CONTROL_TIME;
    uint64_t high = is_time ? last->d1 : time->d1;

    return (high + (!is_time && last->time < time->time)) << 32 | last->time;
}

bool capture_idle_taken(struct capture_idle *idle, const struct kymo_trace_buffer *taken,
                        const struct trace_slot *slots)
{
    uint32_t cpu = taken->cpu % CAPTURE_CPUS_MAX;
    uint64_t bit = UINT64_C(1) << cpu, end = end_of(slots, taken->slots);
    bool answer = idle->asked & bit;

    idle->asked &= ~bit;
    idle->given[cpu] = end > idle->given[cpu] ? end : idle->given[cpu];
    idle->newest = end > idle->newest ? end : idle->newest;
    return answer || taken->slots <= HEAD_SLOTS;
}

/* A CPU without data gets its time from the first buffer of any CPU. */
uint64_t capture_idle_due(struct capture_idle *idle, unsigned cpus)
{
    uint64_t due = 0, now = idle->newest;

    for (unsigned cpu = 0; idle->cycles != 0 && cpu < cpus && cpu < CAPTURE_CPUS_MAX; cpu++) {
        if (idle->given[cpu] == 0) {
            idle->given[cpu] = now;
        } else if (now - idle->given[cpu] >= idle->cycles) {
            idle->given[cpu] = now;
            due |= UINT64_C(1) << cpu;
        }
    }
    idle->asked |= due;
    return due;
}
