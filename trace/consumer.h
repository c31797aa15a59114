/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A consumer owns buffers on each CPU, in one contiguous block, and a policy: allocation, taking,
 * giving back, teardown. Consumer 0 is the event log. The buffers' content is opaque to it.
 *
 * All functions: kernel lock. Writers of the rings must be stopped on every CPU for alloc and free.
 * Described in docs/inside/ring.md; proof: test/trace/control_test.c, owner_test.c.
 */
#ifndef TRACE_CONSUMER_H
#define TRACE_CONSUMER_H

#include "trace/ring.h"

struct trace_consumer {
    struct trace_ring *(*ring_of)(unsigned cpu); /* [I] */
    /* [I] returns when the content of a READY buffer began; NULL: unknown. If the writer reuses the
     * buffer meanwhile, the value is undefined. */
    uint64_t (*begun)(const struct trace_ring *ring, uint32_t index);
    void *block;         /* [k] all buffers, CPU by CPU; NULL: none */
    void *tables;        /* [k] all descriptors */
    uint64_t paddr;      /* [k] */
    size_t bytes;        /* [k] size of the block */
    size_t tables_bytes; /* [k] */
    unsigned per_cpu;    /* [k] buffers of each CPU */
    bool retained;       /* [k] in retained memory: trace/retain.h */
    void *owner;         /* [k] the owning process; NULL: it has ended */
};

/* Allocates per_cpu buffers of buffer_bytes each for every CPU, zeroed, all FREE; retained: in
 * retained memory. Returns 0, -EEXIST or -ENOMEM; for retained memory also -EBUSY or -ENODEV. */
int trace_consumer_alloc(struct trace_consumer *consumer, void *owner, unsigned per_cpu,
                         unsigned buffer_bytes, bool retained);
/* Unmaps the block everywhere and frees it. */
void trace_consumer_free(struct trace_consumer *consumer);
/* Makes the READY buffer whose content began first BUSY; among equal ones that of the lowest CPU,
 * and on one CPU the lowest sequence. Returns its index (cpu * per_cpu + i), or TRACE_NONE. */
uint32_t trace_consumer_take(struct trace_consumer *consumer, unsigned *cpu, uint32_t *local);
/* Makes a BUSY buffer FREE. Returns 0 or -EINVAL. */
int trace_consumer_give(struct trace_consumer *consumer, uint32_t index);
/* Called when the owner has ended: makes all its BUSY buffers FREE. */
void trace_consumer_orphan(struct trace_consumer *consumer);

#endif
