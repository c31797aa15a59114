/* SPDX-License-Identifier: BSD-2-Clause */
/* See check.h. */
#include "lib/capture/check.h"

#include <string.h>

#define CONTROL(cpu, event) TRACE_HEADER(cpu, TRACE_STRUCT_S, TRACE_CLASS_CONTROL, event)

uint64_t capture_sum_slots(uint64_t sum, const struct trace_slot *slots, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sum = capture_sum_word(sum, slots[i].header);
        sum = capture_sum_word(sum, slots[i].time);
        sum = capture_sum_word(sum, slots[i].d1);
        sum = capture_sum_word(sum, slots[i].d2);
    }
    return sum;
}

uint64_t capture_sum_bytes(uint64_t sum, const void *data, size_t bytes)
{
    const uint8_t *byte = data;

    for (size_t i = 0; i < bytes; i++) {
        sum = capture_sum_word(sum, byte[i]);
    }
    return sum;
}

struct capture_place capture_place_find(uint64_t sum, uint64_t check)
{
    uint64_t words = check - sum * CAPTURE_SUM_FACTOR * CAPTURE_SUM_FACTOR;
    uint64_t at = words / CAPTURE_SUM_FACTOR;

    return (struct capture_place){at <= UINT32_MAX ? (uint32_t)at : UINT32_MAX,
                                  (uint32_t)(words % CAPTURE_SUM_FACTOR)};
}

void capture_check_begin(struct capture_check *check)
{
    memset(check, 0, sizeof(*check));
    check->sum = check->all = CAPTURE_SUM_FIRST;
}

void capture_check_head(struct capture_check *check, const void *data, size_t bytes)
{
    check->sum = capture_sum_bytes(check->sum, data, bytes);
    check->head += bytes;
}

void capture_check_add(struct capture_check *check, const struct trace_slot *slots, size_t count)
{
    uint32_t cpu = TRACE_GET_CPU(slots[0].header);

    check->sum = capture_sum_slots(check->sum, slots, count);
    check->slots += (uint32_t)count;
    check->cpu[cpu].time = slots[count - 1].time;
    if (slots[0].header == CONTROL(cpu, TRACE_CONTROL_BUFFER)) {
        check->cpu[cpu].buffers++;
        check->cpu[cpu].last = slots[0].d1;
    }
}

static void trailer_make(uint32_t cpu, uint32_t time, uint64_t sum,
                         struct trace_slot trailer[CAPTURE_TRAILER_SLOTS])
{
    trailer[0] = (struct trace_slot){CONTROL(cpu, TRACE_CONTROL_CHECK), time, (uint32_t)sum,
                                     (uint32_t)(sum >> 32)};
    trailer[1] = (struct trace_slot){CONTROL(cpu, TRACE_CONTROL_BUFFER_END), time,
                                     TRACE_BUFFER_END_WORD, TRACE_BUFFER_END_WORD};
}

void capture_check_close(struct capture_check *check, uint32_t cpu,
                         struct trace_slot trailer[CAPTURE_TRAILER_SLOTS])
{
    struct capture_place place = {capture_place_at(check->bytes), check->cpu[cpu].buffers};

    trailer_make(cpu, check->cpu[cpu].time, capture_sum_place(check->sum, place), trailer);
    check->bytes += check->head + (uint64_t)check->slots * TRACE_SLOT_BYTES + CAPTURE_TRAILER_BYTES;
    check->head = 0;
    check->all = capture_sum_word(check->all, trailer[0].d1);
    check->all = capture_sum_word(check->all, trailer[0].d2);
    check->sum = CAPTURE_SUM_FIRST;
    check->slots = 0;
}

void capture_check_end(struct capture_check *check, uint32_t cpu,
                       struct trace_slot end[CAPTURE_END_SLOTS])
{
    end[0] = (struct trace_slot){CONTROL(cpu, TRACE_CONTROL_END), check->cpu[cpu].time,
                                 check->cpu[cpu].buffers, check->cpu[cpu].last};
    capture_check_add(check, &end[0], 1);
    check->sum = capture_sum_word(check->sum, (uint32_t)check->all);
    check->sum = capture_sum_word(check->sum, (uint32_t)(check->all >> 32));
    capture_check_close(check, cpu, &end[1]);
}

void capture_check_buffer(const struct trace_slot *slots, size_t count, struct capture_place place,
                          struct trace_slot trailer[CAPTURE_TRAILER_SLOTS])
{
    uint64_t sum = capture_sum_slots(CAPTURE_SUM_FIRST, slots, count);

    trailer_make(TRACE_GET_CPU(slots[0].header), slots[count - 1].time,
                 capture_sum_place(sum, place), trailer);
}
