/* SPDX-License-Identifier: BSD-2-Clause */
/* The crash as an event of the capture: a buffer of its own with SYSTEM/SLOG, of severity 0. */
#include <string.h>

#include "lib/retain/internal.h"

#define SLOG 12 /* trace/events.def: opcode, severity, text */
#define SLOG_OPCODE 1
#define SLOG_SHUTDOWN 0
#define TEXT_MOST (TRACE_TEXT_BYTES - 1)

static uint32_t put_text(struct trace_slot *slot, uint32_t cpu, uint32_t time, const char *text)
{
    uint32_t words[(2 * 4 + TRACE_TEXT_BYTES) / 4] = {SLOG_OPCODE, SLOG_SHUTDOWN};
    uint32_t what = TRACE_HEADER(cpu, 0, TRACE_CLASS_SYSTEM, SLOG) | _NTO_TRACE_PROCESS_INJECTED;
    size_t length = strlen(text) < TEXT_MOST ? strlen(text) : TEXT_MOST;

    memcpy(&words[2], text, length);
    return retain_put(slot, what, time, words, (uint32_t)(8 + length + 1));
}

uint64_t retain_stamp_behind(uint64_t time, uint64_t last, uint32_t count)
{
    time = time > last ? time : last + 1;
    return (uint32_t)time > UINT32_MAX - count ? (time | UINT32_MAX) + 1 : time;
}

uint32_t retain_panic_buffer(struct retain *retain, uint32_t sequence, uint64_t *time)
{
    struct trace_slot *slots = retain->slots;
    uint64_t stamp = retain_stamp_behind(retain->panic.time, *time, 3);
    uint32_t low = (uint32_t)stamp, cpu = retain->cpu;

    /* An impossible time is not used. */
    if (stamp > UINT64_MAX / 2) {
        return 0;
    }
    slots[0] = (struct trace_slot){RETAIN_CONTROL(cpu, TRACE_CONTROL_BUFFER), low, sequence, 0};
    slots[1] = (struct trace_slot){RETAIN_CONTROL(cpu, TRACE_CONTROL_TIME), low + 1,
                                   (uint32_t)(stamp >> 32), low + 1};
    slots[0].d2 = 2 + put_text(&slots[2], cpu, low + 2, retain->panic.reason);
    *time = stamp + 2;
    return slots[0].d2;
}
