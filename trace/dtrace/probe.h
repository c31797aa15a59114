/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probes and providers inside the machine. Probes are only ever added, under the control lock;
 * probe context finds a probe by number without a lock.
 */
#ifndef TRACE_DTRACE_PROBE_H
#define TRACE_DTRACE_PROBE_H

#include "trace/assert.h"
#include "trace/atomic.h"
#include "trace/dtrace/dtrace.h"
#include "trace/dtrace/port.h"

struct dtrace_ecb;

struct dtrace_probe {
    struct dtrace_ecb *ecbs; /* [a] in the order of enabling; changed under the control lock */
    const struct dtrace_provider *provider; /* [I] */
    const char *module, *function, *name;   /* [I] */
    void *arg;                              /* [I] belongs to the provider */
    uint32_t id;                            /* [I] */
    /* [a] threads that cached it skip the probe: the predicate of its only ECB is false for them;
     * 0: none */
    uint32_t predicate_id;
    uint32_t enabled; /* [k] number of ECBs */
};

enum {
    DTRACE_PROBE_BEGIN = 1,
    DTRACE_PROBE_END = 2,
    DTRACE_PROBE_ERROR = 3
}; /* the first three probes, always present */

/* The most CPUs that have an ERROR address of their own: at least those of the board. */
#ifndef DTRACE_CPUS_MOST
#define DTRACE_CPUS_MOST 64 /* 8 bytes each; a small board sets its own number */
#endif

/* Chunks never move, so that probe context can read the table while it grows. */
#ifndef DTRACE_PROBE_CHUNKS
/* A chunk takes one pointer. The default is the most for which probes have ids of 16 bits, as
 * providers store them (kernel/dtrace/fbt_slot.h, syscall.c); a small board without fbt sets
 * fewer. */
#define DTRACE_PROBE_CHUNKS 1023
#endif
#ifndef DTRACE_PROBE_CHUNK
#define DTRACE_PROBE_CHUNK 64 /* a power of two; less where RAM is short */
#endif
extern struct dtrace_probe *dtrace_probe_chunks[DTRACE_PROBE_CHUNKS];
extern uint32_t dtrace_probe_count;

/* Returns the probe of an id that dtrace_probe_create() or dtrace_probe_add() returned. Any
 * context. */
static inline struct dtrace_probe *dtrace_probe_at(uint32_t id)
{
    trace_assert(id - 1 < dtrace_probe_count);
    return &dtrace_probe_chunks[(id - 1) / DTRACE_PROBE_CHUNK][(id - 1) % DTRACE_PROBE_CHUNK];
}

/* Returns whether the probe matches a description of four patterns (dtrace_glob()). Control
 * context. */
bool dtrace_probe_matches(const struct dtrace_probe *, const char *provider, const char *module,
                          const char *function, const char *name);

/* Add an ECB to the probe or remove it; enable or disable the probe at its provider. Before freeing
 * the ECB the caller waits for current probe firings to end. */
int dtrace_probe_enable(struct dtrace_probe *, struct dtrace_ecb *);
void dtrace_probe_disable(struct dtrace_probe *, struct dtrace_ecb *);
/* Returns whether an enabling of the probe needs it to fire on this CPU. once: the probe fires on
 * one CPU for each consumer, the first one that the consumer traces (dtrace_probe_fire_once()), not
 * on all that it traces. Control context. */
bool dtrace_probe_wanted(const struct dtrace_probe *, unsigned cpu, bool once);
/* Makes the providers apply a batch of changes. */
void dtrace_probes_settle(void);

/* Returns whether the current thread has cached that this probe's only predicate is false. */
static inline bool dtrace_probe_skips(const struct dtrace_probe *p)
{
    uint32_t known = trace_atomic_load(&p->predicate_id, __ATOMIC_RELAXED);

    return known && dtrace_port_thread_state()->predicate_cache == known;
}
/* Fires a probe that the thread doesn't skip; the part of dtrace_fire() with no other probe firing
 * on this CPU: the caller has called dtrace_port_irq_save(). */
void dtrace_probe_fire(const struct dtrace_probe *, const uint64_t args[5]);
/* Like dtrace_probe_fire(), only for the consumers whose first traced CPU is this one. */
void dtrace_probe_fire_once(const struct dtrace_probe *, const uint64_t args[5]);
/* Replaces dtrace_probe_fire() if a probe is already firing on this CPU: counts the loss. */
__attribute__((cold)) void dtrace_probe_nested(const struct dtrace_probe *);

#endif
