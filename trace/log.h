/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The event log's writer: puts events of class and number into this CPU's ACTIVE buffer.
 *
 * Any context, no lock: interrupts are masked from the reading of the clock to the cursor's store,
 * so stamps and slots are in the same order, and nothing else on this CPU comes between. An event
 * that can't be recorded is counted (trace/loss.h) and otherwise ignored: writers never fail.
 * Cost and limits: docs/ring.md. Proof: test/unit/test_log.c, test_overrun.c, test_random.c.
 */
#ifndef TRACE_LOG_H
#define TRACE_LOG_H

#include "trace/clock.h"
#include "trace/port.h"
#include "trace/ring.h"

#define TRACE_COLD __attribute__((noinline, cold))
#define TRACE_INLINE static inline __attribute__((always_inline))

/* Larger combine events are TOOBIG: what a buffer surely has beside BUFFER, TIME and DROPPED. */
#define TRACE_LOG_MAX_SLOTS (TRACE_BUFFER_SLOTS - 2 - KYMO_TRACE_REASONS * TRACE_CLASS_MAX)

/*
 * The rest of trace_log2() where it does not simply put a slot: the stamp is not larger than the
 * last one or of another wrap; the slot is at the limit. They end the masked section. `what` is
 * class << 10 | event, and in its low bits the port's interrupt state: so that all of it fits the
 * four argument registers of a small CPU.
 */
void trace_log_time(uint32_t d1, uint32_t d2, trace_now_t now, uintptr_t what);
void trace_log_limit(uint32_t d1, uint32_t d2, trace_now_t now, uintptr_t what);
#define TRACE_WHAT_CODE(what) ((uint32_t)((what) >> TRACE_PORT_IRQ_BITS))
#define TRACE_WHAT_IRQ(what) ((what) & (((uintptr_t)1 << TRACE_PORT_IRQ_BITS) - 1))

/*
 * A simple event: two tests serve everything unusual. limit is NULL while tracing is off here, a
 * slow path is under way, or the time must be looked at; else it is the mark, later the end.
 */
TRACE_INLINE void trace_log2(unsigned class, unsigned event, uint32_t d1, uint32_t d2)
{
    uint32_t code = class << TRACE_CLASS_SHIFT | event;
    uintptr_t irq = trace_port_irq_save();
    struct trace_cpu *cpu = trace_port_cpu();
    trace_now_t now = TRACE_NOW();
    struct trace_slot *slot = cpu->cursor;
    struct trace_slot *limit = cpu->limit;

    if (__builtin_expect((TRACE_PORT_CLOCK_BITS != 32 && trace_clock_over(cpu, now)) |
                             ((uint32_t)now <= slot[-1].time),
                         0)) {
        trace_log_time(d1, d2, now, trace_port_what(code, irq));
        return;
    }
    if (__builtin_expect((uintptr_t)slot >= (uintptr_t)limit, 0)) {
        trace_log_limit(d1, d2, now, trace_port_what(code, irq));
        return;
    }
    cpu->count[class]++;
    slot = trace_port_put(slot, TRACE_PORT_HEADER(cpu, code), (uint32_t)now, d1, d2);
    __asm__ volatile("" ::: "memory"); /* a crash finds no slot that isn't all there */
    cpu->cursor = slot;
    trace_port_irq_restore(irq);
}

/*
 * An event of any length: words, then text (NULL: none) and at least one NUL; zeros to whole slots.
 * One slot if it fits, else a combine event, which is reserved whole and never straddles buffers.
 */
struct trace_words {
    const uint32_t *words;
    unsigned nwords;
    const char *text;
    unsigned text_bytes;
};
/* False: it is not recorded; that is counted, unless tracing is off here. */
bool trace_log_words(unsigned class, unsigned event, const struct trace_words *event_words);

/* Own CPU, interrupts masked (cross-calls): tracing begins and ends here, the ACTIVE buffer is
 * closed, all that isn't BUSY is given up. The kernel lock is held by whoever cross-calls. */
void trace_log_start(struct trace_cpu *cpu);
void trace_log_stop(struct trace_cpu *cpu);
void trace_log_flush(struct trace_cpu *cpu);
void trace_log_clear(struct trace_cpu *cpu);
/* Likewise, behind trace_log_start(): opens this CPU's first buffer, if one is FREE, so that the
 * capture has a TIME of this CPU; closes it under the linear policy. */
void trace_log_first(struct trace_cpu *cpu);
/* Own CPU, interrupts masked, while a linear recording runs: puts a TIME into the ACTIVE buffer and
 * closes it, or opens and closes one. Does nothing if no FREE buffer would be left to go on in. */
void trace_log_visit(struct trace_cpu *cpu);
/* Own CPU: the ACTIVE buffer holds more than the high water. */
bool trace_log_passed(const struct trace_cpu *cpu);

#endif
