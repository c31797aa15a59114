/* SPDX-License-Identifier: BSD-2-Clause */
/* Consumers: ownership of buffers. See trace/consumer.h. */
#include "trace/assert.h"
#include "trace/consumer.h"

#include "abi/errno.h"
#include "trace/port.h"
#include "trace/retain.h"

#define ORPHANS_A_STEP 16 /* buffers between two windows */

static int alloc_anywhere(struct trace_consumer *consumer)
{
    uint64_t tables_paddr;

    consumer->tables = trace_port_alloc(consumer->tables_bytes, &tables_paddr);
    if (!consumer->tables) {
        return -ENOMEM;
    }
    consumer->block = trace_port_alloc(consumer->bytes, &consumer->paddr);
    if (!consumer->block) {
        trace_port_free(consumer->tables, consumer->tables_bytes);
        return -ENOMEM;
    }
    return 0;
}

int trace_consumer_alloc(struct trace_consumer *consumer, void *owner, unsigned per_cpu,
                         unsigned buffer_bytes, bool retained)
{
    unsigned cpus = trace_port_cpu_count();

    if (consumer->block) {
        return -EEXIST;
    }
    if (per_cpu > SIZE_MAX / 2 / buffer_bytes / cpus) {
        return -ENOMEM;
    }
    size_t share = (size_t)per_cpu * buffer_bytes; /* bytes of one CPU */
    size_t table = trace_ring_table_bytes(per_cpu);
    consumer->per_cpu = per_cpu;
    consumer->bytes = share * cpus;
    consumer->tables_bytes = table * cpus;
    int error = retained ? trace_retain_alloc(consumer) : alloc_anywhere(consumer);
    if (error) {
        consumer->tables = NULL;
        consumer->bytes = 0;
        return error;
    }
    consumer->owner = owner;
    consumer->retained = retained;
    trace_assert(per_cpu > 0 && consumer->block && consumer->tables);
    for (unsigned cpu = 0; cpu < cpus; cpu++) {
        trace_ring_init(consumer->ring_of(cpu), (uint8_t *)consumer->block + cpu * share, per_cpu,
                        buffer_bytes, (uint8_t *)consumer->tables + cpu * table);
    }
    return 0;
}

void trace_consumer_free(struct trace_consumer *consumer)
{
    trace_assert(consumer->block && consumer->tables);
    for (unsigned cpu = 0; cpu < trace_port_cpu_count(); cpu++) {
        struct trace_ring *ring = consumer->ring_of(cpu);

        trace_assert(ring->active == TRACE_NONE); /* its writer has been stopped */
        ring->count = 0;
        ring->base = NULL;
        ring->buffers = NULL;
    }
    trace_port_unmap_all(consumer->block, consumer->bytes);
    if (consumer->retained) {
        trace_retain_end();
    } else {
        trace_port_free(consumer->block, consumer->bytes);
        trace_port_free(consumer->tables, consumer->tables_bytes);
    }
    consumer->retained = false;
    consumer->block = consumer->tables = NULL;
    consumer->owner = NULL;
    consumer->bytes = 0;
}

/* Returns the CPU whose oldest READY buffer began first, or the number of CPUs if none has one. */
static unsigned first_begun(const struct trace_consumer *consumer)
{
    unsigned cpus = trace_port_cpu_count(), found = cpus;
    uint64_t first = 0;

    for (unsigned cpu = 0; cpu < cpus; cpu++) {
        const struct trace_ring *ring = consumer->ring_of(cpu);
        uint32_t local = trace_ring_oldest(ring);

        if (local == TRACE_NONE) {
            continue;
        }
        uint64_t begun = consumer->begun ? consumer->begun(ring, local) : 0;
        if (found == cpus || begun < first) {
            found = cpu;
            first = begun;
        }
    }
    return found;
}

/* A READY buffer may be reused before it is taken. Then another CPU's may be the first, or no
 * buffer is READY. */
uint32_t trace_consumer_take(struct trace_consumer *consumer, unsigned *cpu, uint32_t *local)
{
    unsigned cpus = trace_port_cpu_count();

    for (unsigned tries = 0; tries < cpus; tries++) {
        *cpu = first_begun(consumer);
        *local = *cpu < cpus ? trace_ring_take(consumer->ring_of(*cpu)) : TRACE_NONE;
        if (*local != TRACE_NONE) {
            return *cpu * consumer->per_cpu + *local;
        }
    }
    return TRACE_NONE;
}

int trace_consumer_give(struct trace_consumer *consumer, uint32_t index)
{
    if (index >= consumer->per_cpu * trace_port_cpu_count()) {
        return -EINVAL;
    }
    return trace_ring_give(consumer->ring_of(index / consumer->per_cpu), index % consumer->per_cpu);
}

void trace_consumer_orphan(struct trace_consumer *consumer)
{
    uint32_t all = consumer->per_cpu * trace_port_cpu_count();

    for (uint32_t index = 0; index < all; index++) {
        trace_consumer_give(consumer, index); /* refuses all that aren't BUSY */
        if (index % ORPHANS_A_STEP == ORPHANS_A_STEP - 1) {
            trace_port_window();
        }
    }
    consumer->owner = NULL;
}
