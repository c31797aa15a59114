/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Times in another kernel's stream: the high word is that of the CPU's last TIME, wherever in the
 * stream it was. Before a CPU's first TIME its first one serves. A low word that falls by more than
 * half its range without a TIME is a rollover. Slots of class EMPTY are filler.
 */
#include "host/reader/internal.h"

#define UNKNOWN UINT32_MAX

/* An event of its own at the time of its CPU's last one; BUFFER and TIME stand beside events, and
 * the slots of a combine event have one time. */
static bool stamp_is_equal(struct kev_lane *lane, const struct trace_slot *slot, uint64_t time)
{
    unsigned cpu = TRACE_GET_CPU(slot->header), structure = TRACE_GET_STRUCT(slot->header);
    unsigned event = TRACE_GET_EVENT(slot->header);
    uint64_t bit = UINT64_C(1) << cpu;

    if ((structure != TRACE_STRUCT_S && structure != TRACE_STRUCT_CB) ||
        (TRACE_GET_CLASS(slot->header) == TRACE_CLASS_CONTROL &&
         (event == TRACE_CONTROL_BUFFER || event == TRACE_CONTROL_TIME ||
          event == TRACE_CONTROL_BUFFER_END))) {
        return false;
    }
    bool equal = (lane->stamped & bit) != 0 && lane->stamp[cpu] == time;
    lane->stamped |= bit;
    lane->stamp[cpu] = time;
    return equal;
}

static bool is_time(const struct trace_slot *slot)
{
    return TRACE_GET_CLASS(slot->header) == TRACE_CLASS_CONTROL &&
           TRACE_GET_EVENT(slot->header) == TRACE_CONTROL_TIME;
}

static uint32_t first_high(const struct kev_lane *lane, unsigned cpu)
{
    for (uint32_t i = 0; i < lane->nslots; i++) {
        if (TRACE_GET_CPU(lane->slots[i].header) == cpu && is_time(&lane->slots[i])) {
            return lane->slots[i].d1;
        }
    }
    return 0;
}

void kev_stream_times(struct kev *kev, struct kev_lane *lane)
{
    for (uint32_t i = 0; i < lane->nslots; i++) {
        const struct trace_slot *slot = &lane->slots[i];
        unsigned cpu = TRACE_GET_CPU(slot->header);

        if (TRACE_GET_CLASS(slot->header) == TRACE_CLASS_EMPTY) {
            lane->bad[i] = 1;
            lane->times[i] = lane->last_time;
            kev->damage.slots++;
            continue;
        }
        if (lane->msb[cpu] == UNKNOWN) {
            lane->msb[cpu] = first_high(lane, cpu);
        } else if (slot->time < lane->low[cpu] && lane->low[cpu] - slot->time > 0x80000000u) {
            lane->msb[cpu]++;
        }
        if (is_time(slot)) {
            lane->msb[cpu] = slot->d1;
        }
        lane->low[cpu] = slot->time;
        lane->times[i] = (uint64_t)lane->msb[cpu] << 32 | slot->time;
        kev->info.equal_stamps += stamp_is_equal(lane, slot, lane->times[i]);
    }
}
