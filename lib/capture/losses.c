/* SPDX-License-Identifier: BSD-2-Clause */
/* See losses.h. Tested by test/board/modes.py, every_event_is_in_the_capture_or_counted. */
#include "lib/capture/losses.h"

#include "trace/slot.h"

/* Writes more than one slot if 32 bits don't hold the count. */
int capture_losses_slots(struct capture_check *check, uint32_t cpu, uint32_t reason_class,
                         uint64_t events, capture_put_t put, void *to)
{
    int refused = 0;

    while (events != 0 && refused == 0) {
        uint32_t n = events < UINT32_MAX ? (uint32_t)events : UINT32_MAX;
        struct trace_slot slot = {
            .header = TRACE_HEADER(cpu, TRACE_STRUCT_S, TRACE_CLASS_CONTROL, TRACE_CONTROL_DROPPED),
            .time = check->cpu[cpu].time,
            .d1 = reason_class,
            .d2 = n,
        };

        capture_check_add(check, &slot, 1);
        refused = put(to, &slot, sizeof(slot));
        events -= n;
    }
    return refused;
}

int capture_losses_close(struct capture_check *check, uint32_t cpu, capture_put_t put, void *to)
{
    struct trace_slot trailer[CAPTURE_TRAILER_SLOTS];

    if (check->slots == 0) {
        return 0;
    }
    capture_check_close(check, cpu, trailer);
    return put(to, trailer, sizeof(trailer));
}

int capture_losses_end(struct capture_check *check, uint32_t cpu,
                       const struct kymo_trace_loss *loss, capture_put_t put, void *to)
{
    struct trace_slot end[CAPTURE_END_SLOTS];
    int refused = 0;

    for (uint32_t i = 0; loss && i < KYMO_TRACE_REASONS * KYMO_TRACE_CLASSES && refused == 0; i++) {
        uint32_t reason = i / KYMO_TRACE_CLASSES, class = i % KYMO_TRACE_CLASSES;

        refused = capture_losses_slots(check, cpu, reason << 8 | class,
                                       loss->pending[reason][class], put, to);
    }
    capture_check_end(check, cpu, end);
    return refused != 0 ? refused : put(to, end, sizeof(end));
}
