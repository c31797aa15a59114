/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The buffers of the event log's writer (trace/log_buffer.c), for its events (trace/log.c): the
 * slots that both files write, the fast paths' limits, the buffer switch. Own CPU, interrupts
 * masked.
 */
#ifndef TRACE_LOG_BUFFER_H
#define TRACE_LOG_BUFFER_H

#include "abi/compiler.h"
#include "trace/assert.h"
#include "trace/log.h"
#include "trace/loss.h"

/* The CONTROL events' code. */
#define TRACE_CONTROL_CODE(event) ((uint32_t)TRACE_CLASS_CONTROL << TRACE_CLASS_SHIFT | (event))

/* Writes TIME: its stamp becomes the latest one, and its high word the log's. Returns the next
 * slot. */
TRACE_INLINE struct trace_slot *log_put_time(struct trace_cpu *cpu, struct trace_slot *slot,
                                             uint32_t high, uint32_t low)
{
    trace_clock_set_high(cpu, high);
    return trace_port_put(slot, TRACE_PORT_HEADER(cpu, TRACE_CONTROL_CODE(TRACE_CONTROL_TIME)), low,
                          high, low);
}

/*
 * Enables or disables the fast paths: sets limit and full according to the state, or both to NULL
 * if the next event must take the slow path.
 */
TRACE_INLINE void log_set_limit(struct trace_cpu *cpu)
{
    bool slow = cpu->time_ahead || cpu->filled || !cpu->on || cpu->reporting;

    cpu->limit = slow ? NULL : cpu->due;
    cpu->full = slow ? NULL : cpu->end;
}

/* Writes the slot of a simple event whose stamp is known. Precondition: there is room for it. */
TRACE_INLINE void log_put_simple(struct trace_cpu *cpu, struct trace_slot *slot, uint32_t code,
                                 uint32_t time, uint32_t d1, uint32_t d2)
{
    slot = trace_port_put(slot, TRACE_PORT_HEADER(cpu, code), time, d1, d2);
    cpu->count[code >> TRACE_CLASS_SHIFT]++;
    cpu->cursor = slot;
}

/* For assertions: the counts are those of the slots in the ACTIVE buffer, of each class (I6 of
 * docs/inside/ring.md: made = in buffers, and what leaves them goes with its counts). */
static inline bool log_counts_agree(const struct trace_cpu *cpu)
{
    uint32_t count[TRACE_CLASS_MAX] = {0};

    for (const struct trace_slot *s = cpu->end - TRACE_BUFFER_SLOTS; s < cpu->cursor; s++) {
        bool first = TRACE_GET_STRUCT(s->header) <= TRACE_STRUCT_CB;
        count[TRACE_GET_CLASS(s->header) % TRACE_CLASS_MAX] += first;
    }
    for (unsigned slot_class = TRACE_CLASS_CONTROL + 1; slot_class < TRACE_CLASS_MAX;
         slot_class++) {
        if (count[slot_class] != cpu->count[slot_class]) {
            return false;
        }
    }
    return true;
}

/* Moves the counts to the descriptor and clears them, and adds their sum to `closed`; in pairs of
 * words, without a call. Each word of the sum holds two sums, as in trace_loss_events(). */
static inline void log_move_counts(struct trace_cpu *cpu, struct trace_buffer *buffer)
{
    typedef uint64_t pair __attribute__((may_alias));
    pair *from = (pair *)cpu->count, *to = (pair *)buffer->count;
    uint32_t sums = 0;

#pragma GCC unroll 16
    for (unsigned i = 0; i < sizeof(cpu->count) / (sizeof(*from)); i++) {
        pair counts = from[i];

        to[i] = counts;
        from[i] = 0;
        sums += (uint32_t)counts + (uint32_t)(counts >> 32);
        __asm__("" ::: "memory");
    }
    cpu->closed += (sums >> 16) + (uint16_t)sums;
}

/* log_slow() records a simple event in any state of the log; log_next() records one whose slot is
 * at `full`: the buffer is full, or there is none, or the slow path must check. Both end the masked
 * section. */
COLD void log_slow(uint32_t d1, uint32_t d2, trace_now_t now, uintptr_t packed);
void log_next(uint32_t d1, uint32_t d2, trace_now_t now, uintptr_t packed);

/* Counts the loss of a simple event and returns true, if nothing else has to be done: no buffer is
 * available, and none is ACTIVE. */
bool log_lost_again(struct trace_cpu *cpu, unsigned slot_class);
/*
 * Does the same if log_lost_again() has done it for an event of this class, and nothing has changed
 * since: `losing` becomes false at each change of a condition that log_lost_again() tests, except
 * for FREE buffers, which other CPUs may add. The class has pending losses, so only the count is
 * incremented; of its 64 bits only the low word, for a 32-bit CPU, as long as there is no carry.
 */
TRACE_INLINE bool log_lost(struct trace_cpu *cpu, unsigned slot_class)
{
    typedef uintptr_t low_word __attribute__((may_alias));
    low_word *pending = (low_word *)&cpu->loss.pending[KYMO_DROP_NOBUFFER][slot_class];
    uint32_t missed = cpu->missed_slots;
    uintptr_t count = *pending + 1;

    if (!cpu->losing || trace_ring_free(&cpu->ring) != 0) {
        return false;
    }
    if (unlikely(count <= 1)) { /* the first one of its class, or a carry */
        return false;
    }
    if (unlikely(missed % TRACE_BUFFER_SLOTS == 0)) { /* the demand grows by a buffer */
        return false;
    }
    trace_assert(cpu->on && !cpu->busy && !cpu->end && cpu->loss.reasons);
    trace_assert(cpu->loss.classes[KYMO_DROP_NOBUFFER] >> slot_class & 1);
    trace_assert(cpu->ring.policy == TRACE_LINEAR && !cpu->ring.overwrite);
    *pending = count;
    cpu->missed_slots = missed + 1;
    return true;
}

/*
 * Opening a buffer has several steps, because interrupts are masked during each, and a buffer may
 * have many DROPPED slots: the full buffer is closed; a few of the DROPPED slots of the buffer that
 * is reused are read back; its events are counted, then BUFFER and TIME are written; a few DROPPED
 * slots are written. Between steps the log is consistent: an event recorded then does the remaining
 * steps first. The fast paths are disabled until no step is left.
 */
#define LOG_OPEN_STEPS_MOST (2 * TRACE_DROPPED_MOST / TRACE_LOSS_STEP + 3)
TRACE_INLINE bool log_opening(const struct trace_cpu *cpu)
{
    return cpu->obtained || cpu->reporting;
}
/* Does the next step. Precondition: log_opening(). */
void log_open_step(struct trace_cpu *cpu);
/* Obtains the next buffer, by the policy, and begins to open it. If that needs no more steps, the
 * event's stamp is the previous one + 1. Returns false if there is none; an ACTIVE buffer that
 * isn't full stays. */
bool log_next_buffer(struct trace_cpu *cpu);
/* Adds the slots of an event that was lost for lack of a buffer to the demand. */
void log_missed(struct trace_cpu *cpu, unsigned slots);

#endif
