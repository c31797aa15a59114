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

#include "trace/hook.h"
#include "trace/ring.h"

/* Larger combine events are TOOBIG: what a buffer surely has beside BUFFER, TIME and DROPPED. */
#define TRACE_LOG_MAX_SLOTS (TRACE_BUFFER_SLOTS - 2 - KYMO_TRACE_REASONS * TRACE_CLASS_MAX)

#if TRACE_PORT_CLOCK_BITS == 32
typedef uint32_t trace_now_t;
#define TRACE_NOW() trace_port_clock_low()
#define TRACE_WRAPPED(cpu, now) false /* the next call of trace_clock_wrapped() is before that */
#else
typedef uint64_t trace_now_t;
#define TRACE_NOW() trace_port_clock()
#define TRACE_WRAPPED(cpu, now) ((now) >= (cpu)->wrap)
#endif

/* The slot that does not fit the fast path. code: class << 10 | event. Restores irq. */
TRACE_COLD void trace_log_slow(uint32_t d1, uint32_t d2, uint32_t code, uintptr_t irq);

/*
 * A simple event. One test serves everything unusual: limit is NULL while tracing is off here, a
 * slow path is under way, or the time must be looked at; else it is the mark, later the end.
 */
TRACE_INLINE void trace_log2(unsigned class, unsigned event, uint32_t d1, uint32_t d2)
{
    uint32_t code = class << TRACE_CLASS_SHIFT | event;
    uintptr_t irq = trace_port_irq_save();
    struct trace_cpu *cpu = trace_port_cpu();
    struct trace_slot *slot = cpu->cursor;
    trace_now_t now = TRACE_NOW();

    if (__builtin_expect((uintptr_t)slot >= (uintptr_t)cpu->limit || TRACE_WRAPPED(cpu, now) ||
                             (uint32_t)now <= slot[-1].time,
                         0)) {
        trace_log_slow(d1, d2, code, irq);
        return;
    }
    slot->header = code | TRACE_PORT_CPU_BITS(cpu);
    slot->time = (uint32_t)now;
    slot->d1 = d1;
    slot->d2 = d2;
    cpu->count[class]++;
    __asm__ volatile("" ::: "memory"); /* a crash finds no slot that isn't all there */
    cpu->cursor = slot + 1;
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
void trace_log_words(unsigned class, unsigned event, const struct trace_words *event_words);

/* Own CPU, interrupts masked (cross-calls): tracing begins and ends here, the ACTIVE buffer is
 * closed, all that isn't BUSY is given up. The kernel lock is held by whoever cross-calls. */
void trace_log_start(struct trace_cpu *cpu);
void trace_log_stop(struct trace_cpu *cpu);
void trace_log_flush(struct trace_cpu *cpu);
void trace_log_clear(struct trace_cpu *cpu);

#endif
