/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records several events of one kernel operation at once: with one reading of the clock and one
 * check of the buffer and the counts for all of them. They are the events that trace_log2() and
 * trace_log4() would record one after the other, in the same order, each with a stamp of its own:
 * the first has the clock's time, each next one the previous stamp plus one, as for events that
 * share a tick.
 *
 * Interrupts are masked from trace_batch_begin(), if that returns true, to trace_batch_end(). The
 * caller calls trace_batch_count() for each class, then records each event in order. A batch is for
 * the common case: where begin() returns false (the high-water mark, a wrap of the clock, a loss,
 * no recording) the caller records each event by itself. Any context, no lock. Tested by
 * test/trace/batch_test.c; in the kernel test/board's suites events and events-wide.
 */
#ifndef TRACE_LOG_BATCH_H
#define TRACE_LOG_BATCH_H

#include "abi/compiler.h"
#include "trace/log.h"

struct trace_batch {
    struct trace_cpu *cpu;
    struct trace_slot *slot; /* the next slot */
    uint32_t time;           /* the next stamp */
    uintptr_t irq;
};

/* The most slots of a batch. */
#define TRACE_BATCH_SLOTS 16

/* Begins a batch of at most `slots` slots. Returns false, with nothing done, unless trace_log2() is
 * certain to record all of its events in the common case. */
TRACE_INLINE bool trace_batch_begin(struct trace_batch *batch, uint32_t slots)
{
    uintptr_t irq = trace_port_irq_save();
    struct trace_cpu *cpu = trace_port_cpu();
    trace_now_t now = TRACE_NOW();
    struct trace_slot *slot = cpu->cursor;
    uint32_t last = slot[-1].time, time = (uint32_t)now;
    bool wraps = TRACE_PORT_CLOCK_BITS == 32 ? time <= last : trace_clock_over(cpu, now);

    time = time > last ? time : last + 1;
    if (unlikely(wraps || time - 1 >= UINT32_MAX - TRACE_BATCH_SLOTS ||
                 (uintptr_t)(slot + slots) > (uintptr_t)cpu->limit)) {
        trace_port_irq_restore(irq);
        return false;
    }
    *batch = (struct trace_batch){cpu, slot, time, irq};
    return true;
}

/* Adds the batch's events of a class to the counts. */
TRACE_INLINE void trace_batch_count(const struct trace_batch *batch, unsigned slot_class,
                                    uint32_t events)
{
    batch->cpu->count[slot_class] += events;
}

/* Records the next event, of two words. */
TRACE_INLINE void trace_batch_put2(struct trace_batch *batch, unsigned slot_class, unsigned event,
                                   uint32_t d1, uint32_t d2)
{
    batch->slot = trace_port_put(
        batch->slot, TRACE_PORT_HEADER(batch->cpu, slot_class << TRACE_CLASS_SHIFT | event),
        batch->time++, d1, d2);
}

/* Records the next event, of four words: two slots. */
TRACE_INLINE void trace_batch_put4(struct trace_batch *batch, unsigned slot_class, unsigned event,
                                   const uint32_t words[4])
{
    uint32_t header = TRACE_PORT_HEADER(batch->cpu, slot_class << TRACE_CLASS_SHIFT | event);
    struct trace_slot *slot = batch->slot;

    slot = trace_port_put(slot, header | TRACE_STRUCT_CB, batch->time, words[0], words[1]);
    batch->slot = trace_port_put(slot, header | TRACE_STRUCT_CE, batch->time, words[2], words[3]);
    batch->time++;
}

/* Completes the batch: after a crash none of its events is found, or all. */
TRACE_INLINE void trace_batch_end(const struct trace_batch *batch)
{
    __asm__ volatile("" ::: "memory");
    batch->cpu->cursor = batch->slot;
    trace_port_irq_restore(batch->irq);
}

#endif
