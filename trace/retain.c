/* SPDX-License-Identifier: BSD-2-Clause */
/* The event log in retained memory. See retain.h. */
#include "trace/retain.h"

#include "abi/errno.h"
#include "abi/retain.h"
#include "trace/crc32c.h"
#include "trace/log_buffer.h"
#include "trace/loss.h"
#include "trace/port.h"

/* Progress of a CPU's seals. */
struct seal {
    uint32_t last; /* [c] sequence of the last buffer sealed or skipped */
    uint32_t next; /* [c] sequence of the buffer in progress; 0: none */
    uint32_t index;
    uint32_t done;                 /* [c] bytes sealed so far */
    uint32_t crc;                  /* [c] CRC state */
    uint32_t owed;                 /* [c] bytes made due by the slots written, not sealed yet */
    const struct trace_slot *from; /* [c] the cursor at the previous exit */
};

static struct {
    uint8_t *window;                /* [k] location of the ring */
    struct kymo_retain_mark *marks; /* [k] */
    struct seal *seals;             /* [k] one per CPU; next to the marks, in the window */
} retain;

_Static_assert(TRACE_FREE == KYMO_RETAIN_FREE_BUFFER && TRACE_ACTIVE == KYMO_RETAIN_ACTIVE &&
                   TRACE_READY == KYMO_RETAIN_READY && TRACE_BUSY == KYMO_RETAIN_BUSY &&
                   TRACE_CLASS_MAX == KYMO_TRACE_CLASSES &&
                   offsetof(struct trace_buffer, used) == offsetof(struct trace_buffer, word) + 4 &&
                   offsetof(struct trace_buffer, dropped_back) ==
                       offsetof(struct trace_buffer, word) + 10,
               "layout of the retained memory");

int trace_retain_alloc(struct trace_consumer *consumer)
{
    unsigned cpus = trace_port_cpu_count();
    size_t buffers = (size_t)consumer->per_cpu * cpus, from, window_bytes, rounded, align;
    uint64_t paddr;
    uint8_t *window;
    int error = trace_port_retained(&window, &from, &window_bytes, &paddr);

    if (error) {
        return error;
    }
    size_t marks = from + consumer->tables_bytes;
    size_t seals = marks + buffers * sizeof(struct kymo_retain_mark);
    size_t block = seals + cpus * sizeof(struct seal);
    if (cpus > KYMO_RETAIN_CPUS || !trace_port_shape(consumer->bytes, &rounded, &align)) {
        return -ENOMEM;
    }
    block = (size_t)(((paddr + block + align - 1) & ~(uint64_t)(align - 1)) - paddr);
    if (block > window_bytes || rounded > window_bytes - block) {
        return -ENOMEM;
    }
    trace_port_clear(window + from, block + rounded - from);
    retain.window = window;
    retain.marks = (struct kymo_retain_mark *)(void *)(window + marks);
    retain.seals = (struct seal *)(void *)(window + seals);
    consumer->tables = window + from;
    consumer->block = window + block;
    consumer->paddr = paddr + block;
    return 0;
}

static uint32_t retain_offset(const volatile void *at)
{
    return (uint32_t)((uintptr_t)at - (uintptr_t)retain.window);
}

void trace_retain_begin(struct trace_consumer *consumer)
{
    const struct trace_ring *ring = consumer->ring_of(0);
    struct kymo_retain_ring out = {
        .ncpu = trace_port_cpu_count(),
        .per_cpu = consumer->per_cpu,
        .buffer_bytes = ring->buffer_bytes,
        .buffers = retain_offset(consumer->block),
        .marks = retain_offset(retain.marks),
        .words = retain_offset(&ring->buffers[0].word),
        .word_step = sizeof(struct trace_buffer),
        .table_step = (uint32_t)trace_ring_table_bytes(consumer->per_cpu),
    };

    for (unsigned i = 0; i < out.ncpu; i++) {
        struct trace_cpu *cpu = trace_port_cpu_at(i);

        cpu->ring.retained = true;
        out.cpu[i] = (struct kymo_retain_place){retain_offset(&cpu->cursor),
                                                retain_offset(cpu->loss.pending)};
    }
    trace_port_retained_ring(&out);
}

void trace_retain_end(void)
{
    trace_port_retained_ring(NULL);
}

/* Selects the oldest closed buffer without a seal as the one in progress. A BUSY one is saved by
 * its process. */
static bool find_next(struct seal *seal, const struct trace_ring *ring)
{
    uint32_t closed = ring->closed_sequence;

    if (closed - seal->last > ring->count) {
        seal->last = closed - ring->count;
    }
    while (seal->last != closed) {
        uint32_t s = seal->last + 1;
        uint32_t i = ring->by_sequence[s % ring->count];

        if (i < ring->count && ring->buffers[i].word == TRACE_WORD(s, TRACE_READY)) {
            *seal =
                (struct seal){.last = seal->last, .next = s, .index = i, .crc = TRACE_CRC_START};
            return true;
        }
        seal->last = s;
    }
    return false;
}

/* Readers trust a mark only with its CRC, so it may be written in any order. */
static void put_mark(const struct trace_cpu *cpu, const struct seal *seal)
{
    const struct trace_buffer *buffer = &cpu->ring.buffers[seal->index];
    uint32_t number = cpu->id * cpu->ring.count + seal->index;
    struct kymo_retain_mark mark = {
        .sequence = seal->next,
        .slots = buffer->used / TRACE_SLOT_BYTES,
        .data_crc = ~seal->crc,
    };

    for (unsigned slot_class = 0; slot_class < TRACE_CLASS_MAX; slot_class++) {
        mark.events[slot_class] = buffer->count[slot_class];
    }
    mark.crc = trace_crc_add(TRACE_CRC_START, &number, sizeof(number));
    mark.crc = ~trace_crc_add(mark.crc, &mark, offsetof(struct kymo_retain_mark, crc));
    retain.marks[number] = mark;
    trace_port_clean(&retain.marks[number], sizeof(mark));
}

/* Adds the bytes made due by the slots written since the previous exit. Writers may interrupt
 * this. */
static void seal_owe(const struct trace_cpu *cpu, struct seal *seal)
{
    const struct trace_slot *from = seal->from, *cursor = cpu->cursor;
    size_t slots = TRACE_RETAIN_PACE;

    seal->from = cursor;
    if (cpu->end && from && from <= cursor && from >= cpu->end - TRACE_BUFFER_SLOTS) {
        slots = (size_t)(cursor - from);
    }
    seal->owed += (uint32_t)slots * TRACE_RETAIN_RATE;
    if (seal->owed > TRACE_RETAIN_OWED) {
        seal->owed = TRACE_RETAIN_OWED;
    }
}

/* Seals some of the owed bytes, at most to the buffer's end. The writer may have reused the buffer
 * at any time: then the seal is discarded. */
static void seal_step(struct trace_cpu *cpu, struct seal *seal)
{
    struct trace_ring *ring = &cpu->ring;
    const struct trace_buffer *buffer = &ring->buffers[seal->index];
    const uint8_t *data = trace_ring_data(ring, seal->index) + seal->done;
    uint32_t n = seal->owed < TRACE_RETAIN_MOST ? seal->owed : TRACE_RETAIN_MOST;

    if (buffer->word == TRACE_WORD(seal->next, TRACE_READY)) {
        uint32_t left = buffer->used - seal->done;

        n = n < left ? n : left;
        seal->crc = trace_crc_add(seal->crc, data, n);
        trace_port_clean(data, n);
        seal->done += n;
        seal->owed -= n;
        if (n != left) {
            return;
        }
        put_mark(cpu, seal);
    }
    seal->last = seal->next;
    seal->next = seal->owed = 0;
}

/* Requests the next step after a number of slots in the ACTIVE buffer. */
static void set_pace(struct trace_cpu *cpu)
{
    uintptr_t irq = trace_port_irq_save();

    if (cpu->end && cpu->limit && cpu->due == cpu->end &&
        cpu->end - cpu->cursor > 2 * TRACE_RETAIN_PACE) {
        cpu->due = cpu->cursor + TRACE_RETAIN_PACE;
        log_set_limit(cpu);
    }
    trace_port_irq_restore(irq);
}

/* Returns whether there is a buffer to seal; not if the buffers have been freed. */
static bool seal_wanted(const struct trace_cpu *cpu, struct seal *seal)
{
    const struct trace_ring *ring = &cpu->ring;

    return ring->count > 0 && ring->retained && ring->policy == TRACE_RING &&
           (seal->next != 0 || find_next(seal, ring));
}

/* Another CPU that gets the lock between two steps may end the recording and begin another. */
void trace_retain_exit(struct trace_cpu *cpu)
{
    if (!seal_wanted(cpu, &retain.seals[cpu->id])) {
        return;
    }
    seal_owe(cpu, &retain.seals[cpu->id]);
    do {
        seal_step(cpu, &retain.seals[cpu->id]);
    } while (retain.seals[cpu->id].owed > 0 && trace_port_exit_window() &&
             seal_wanted(cpu, &retain.seals[cpu->id]));
    set_pace(cpu);
}
