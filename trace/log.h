/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The event log's writer: appends events of a class and number to this CPU's ACTIVE buffer.
 *
 * Any context, no lock: interrupts are masked from the clock's reading to the store of the cursor,
 * so stamps and slots are in the same order and no other code runs on this CPU in between. An event
 * that can't be recorded is counted (trace/loss.h) and otherwise ignored: writers never fail. Cost
 * and limits: docs/inside/ring.md. Proof: test/trace/log_test.c, overrun_test.c, random_test.c.
 */
#ifndef TRACE_LOG_H
#define TRACE_LOG_H

#include "abi/compiler.h"
#include "trace/clock.h"
#include "trace/port.h"
#include "trace/ring.h"

#define TRACE_INLINE static inline __attribute__((always_inline))

/*
 * Slow paths of trace_log2(): for a stamp that is not above the previous one or belongs to another
 * wrap; for a slot at the limit. Both end the masked section. `packed` is class << 10 | event with
 * the port's interrupt state in its low bits, so that all arguments fit the four argument registers
 * of a small CPU.
 */
void trace_log_time(uint32_t d1, uint32_t d2, trace_now_t now, uintptr_t packed);
void trace_log_limit(uint32_t d1, uint32_t d2, trace_now_t now, uintptr_t packed);
#define TRACE_PACKED_CODE(packed) ((uint32_t)((packed) >> TRACE_PORT_IRQ_BITS))
#define TRACE_PACKED_IRQ(packed) ((packed) & (((uintptr_t)1 << TRACE_PORT_IRQ_BITS) - 1))

/* Returns whether the time of an event in slot is not a common case: the clock's upper word has
 * changed, or the previous slot is not older. */
TRACE_INLINE bool trace_log_time_special(const struct trace_cpu *cpu, const struct trace_slot *slot,
                                         trace_now_t now)
{
    return (TRACE_PORT_CLOCK_BITS != 32 && trace_clock_over(cpu, now)) |
           ((uint32_t)now <= slot[-1].time);
}

/*
 * Records a simple event: two tests catch every unusual case. limit is NULL while tracing is off on
 * this CPU, a slow path is active, or the time must be checked; otherwise it is the high-water mark
 * and, once that is passed, the buffer's end. code: class << 10 | event.
 */
TRACE_INLINE void trace_log2_code(uint32_t code, uint32_t d1, uint32_t d2)
{
    uintptr_t irq = trace_port_irq_save();
    struct trace_cpu *cpu = trace_port_cpu();
    trace_now_t now = TRACE_NOW();
    struct trace_slot *slot = cpu->cursor;
    struct trace_slot *limit = cpu->limit;

    if (unlikely(trace_log_time_special(cpu, slot, now))) {
        trace_log_time(d1, d2, now, trace_port_pack(code, irq));
        return;
    }
    if (unlikely((uintptr_t)slot >= (uintptr_t)limit)) {
        trace_log_limit(d1, d2, now, trace_port_pack(code, irq));
        return;
    }
    cpu->count[code >> TRACE_CLASS_SHIFT]++;
    slot = trace_port_put(slot, TRACE_PORT_HEADER(cpu, code), (uint32_t)now, d1, d2);
    __asm__ volatile("" ::: "memory"); /* after a crash no slot is found half written */
    cpu->cursor = slot;
    trace_port_irq_restore(irq);
}

TRACE_INLINE void trace_log2(unsigned slot_class, unsigned event, uint32_t d1, uint32_t d2)
{
    trace_log2_code(slot_class << TRACE_CLASS_SHIFT | event, d1, d2);
}

/* Does the same in the common case; otherwise does nothing and returns false. For callers that
 * handle other cases in a function of their own. slot_class: code's. */
TRACE_INLINE bool trace_log2_usual(unsigned slot_class, uint32_t code, uint32_t d1, uint32_t d2)
{
    uintptr_t irq = trace_port_irq_save();
    struct trace_cpu *cpu = trace_port_cpu();
    trace_now_t now = TRACE_NOW();
    struct trace_slot *slot = cpu->cursor;
    struct trace_slot *limit = cpu->limit;

    if (unlikely(trace_log_time_special(cpu, slot, now)) ||
        unlikely((uintptr_t)slot >= (uintptr_t)limit)) {
        trace_port_irq_restore(irq);
        return false;
    }
    cpu->count[slot_class]++;
    slot = trace_port_put(slot, TRACE_PORT_HEADER(cpu, code), (uint32_t)now, d1, d2);
    __asm__ volatile("" ::: "memory");
    cpu->cursor = slot;
    trace_port_irq_restore(irq);
    return true;
}

/*
 * An event of any length: words, then text (NULL: none) with at least one NUL, zero-padded to whole
 * slots. One slot if it fits, otherwise a combine event, which is reserved as a whole and never
 * straddles buffers.
 */
struct trace_words {
    const uint32_t *words;
    unsigned nwords;
    const char *text;
    unsigned text_bytes;
};
/* Returns false if the event is not recorded; that is counted, unless tracing is off on this
 * CPU. */
bool trace_log_words(unsigned slot_class, unsigned event, const struct trace_words *event_words);

/* Records an event of whole slots, at least one: 2 * slots words. code: class << 10 | event. */
bool trace_log_slots(uint32_t code, const uint32_t *words, unsigned slots);
/* Records an event of four words: two slots. */
void trace_log4(uint32_t code, const uint32_t words[4]);

/* Start and stop tracing on this CPU, close the ACTIVE buffer. Own CPU, interrupts masked
 * (cross-calls). The cross-calling CPU holds the kernel lock. */
void trace_log_start(struct trace_cpu *cpu);
void trace_log_stop(struct trace_cpu *cpu);
void trace_log_flush(struct trace_cpu *cpu);
/*
 * Do one step after a stop, in the same context: the first writes pending losses into the stream,
 * as far as there are FREE buffers for them; the second discards this buffer if it is READY. Return
 * true if more steps are left.
 */
bool trace_log_report_losses(struct trace_cpu *cpu);
bool trace_log_clear(struct trace_cpu *cpu, uint32_t index);
/* Opens this CPU's first buffer after trace_log_start(), if one is FREE, so that the capture has a
 * TIME of this CPU; closes it under the linear policy. Own CPU, interrupts masked. */
void trace_log_first(struct trace_cpu *cpu);
/* Does one step while a linear recording runs: writes a TIME into the ACTIVE buffer and closes it,
 * or opens and closes one. Does nothing if that would leave no FREE buffer. Returns true if more
 * steps are left. Own CPU, interrupts masked. */
bool trace_log_visit(struct trace_cpu *cpu);
/* Returns whether the ACTIVE buffer is filled beyond the high-water mark. Own CPU. */
bool trace_log_passed(const struct trace_cpu *cpu);

#endif
