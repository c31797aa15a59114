/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffer switch: fast path of a simple event from a full buffer, or from none, to the next one.
 * Preconditions: linear policy, a FREE buffer, nothing lost, no wrap of the time near. Does what
 * log_slow() does in that case, without branches to other cases, because a board's budget counts
 * it; all other cases call log_slow(). Own CPU, interrupts masked. Proof: test/unit/test_log.c,
 * test_random.c.
 */
#include "trace/assert.h"
#include "trace/log_impl.h"
#include "trace/loss.h"
#include "trace/ring_writer.h"

/* BUFFER, TIME and the event: the stamps, and the slots needed before the high-water mark. */
#define TURN_SLOTS 3

static inline bool is_usual(const struct trace_cpu *cpu, uint32_t now)
{
    return cpu->ring.policy == TRACE_LINEAR && !cpu->loss.reasons &&
           cpu->high_water >= TURN_SLOTS && now <= UINT32_MAX - TURN_SLOTS;
}

static inline void close_full(struct trace_cpu *cpu)
{
    struct trace_buffer *buffer = &cpu->ring.buffers[cpu->ring.active];

    (cpu->end - TRACE_BUFFER_SLOTS)->d2 = TRACE_BUFFER_SLOTS;
    buffer->used = TRACE_BUFFER_BYTES;
    log_move_counts(cpu, buffer);
    ring_close(&cpu->ring);
}

/* Writes BUFFER, TIME and the event. */
static inline void open_with(struct trace_cpu *cpu, uint32_t index, uint32_t high, uint32_t low,
                             uint32_t code, uint32_t d1, uint32_t d2)
{
    struct trace_slot *slot = (struct trace_slot *)trace_ring_data(&cpu->ring, index);
    struct trace_slot *due = slot + cpu->high_water;
    struct trace_slot *end = slot + TRACE_BUFFER_SLOTS;

    cpu->ring.buffers[index].dropped_slots = 0;
    cpu->ring.run = cpu->missed_slots = 0;
    slot = trace_port_put(slot, TRACE_PORT_HEADER(cpu, TRACE_CONTROL_CODE(TRACE_CONTROL_BUFFER)),
                          low, ring_begin(&cpu->ring, index), 0);
    slot = log_put_time(cpu, slot, high, low + 1);
    log_put_simple(cpu, slot, code, low + 2, d1, d2);
    TRACE_YIELD_POINT("turned");
    if (__builtin_expect(cpu->nested, 0)) {
        trace_loss_fold(cpu);
    }
    cpu->busy = false;
    cpu->end = end;
    cpu->due = cpu->limit = due;
    cpu->full = end;
}

/* A nested event during a buffer switch finds busy, and limit NULL. */
static inline void log_turn_begin(struct trace_cpu *cpu)
{
    trace_assert(trace_port_irq_masked() && !cpu->busy);
    cpu->limit = cpu->full = NULL;
    cpu->busy = true;
    TRACE_YIELD_POINT("turn");
}

/* Switches buffers. limit and full are the buffer's end: see trace/log.h. */
static bool log_turn_turn(struct trace_cpu *cpu, uint32_t d1, uint32_t d2, uint32_t now,
                          uint32_t code)
{
    uint32_t index;

    if (!is_usual(cpu, now) || !ring_take_free(&cpu->ring, &index)) {
        return false;
    }
    log_turn_begin(cpu);
    close_full(cpu);
    open_with(cpu, index, cpu->time_high, now, code, d1, d2);
    return true;
}

/* Opens a buffer where none is ACTIVE; checks the time and all other preconditions. */
static bool log_turn_open(struct trace_cpu *cpu, uint32_t d1, uint32_t d2, trace_now_t low,
                          uint32_t code)
{
    uint64_t now = trace_clock_whole(cpu, low);
    uint32_t index;

    if (!cpu->on || cpu->busy || !is_usual(cpu, (uint32_t)now) || now <= trace_clock_last(cpu) ||
        !ring_take_free(&cpu->ring, &index)) {
        return false;
    }
    log_turn_begin(cpu);
    cpu->time_ahead = false;
    open_with(cpu, index, (uint32_t)(now >> 32), (uint32_t)now, code, d1, d2);
    return true;
}

void log_next(uint32_t d1, uint32_t d2, trace_now_t now, uintptr_t what)
{
    struct trace_cpu *cpu = trace_port_cpu();
    uint32_t code = TRACE_WHAT_CODE(what);

    if (cpu->full) {
        if (log_turn_turn(cpu, d1, d2, (uint32_t)now, code)) {
            TRACE_PORT_REQUEST_EXIT(cpu);
            trace_port_irq_restore(what);
            return;
        }
    } else if (!cpu->end && log_turn_open(cpu, d1, d2, now, code)) {
        trace_port_irq_restore(what);
        return;
    }
    log_slow(d1, d2, now, what);
}
