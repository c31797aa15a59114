/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probes and providers inside the machine. Probes are only ever added, under the control lock; a
 * firing finds its probe by number without a lock.
 */
#ifndef TRACE_D_PROBE_H
#define TRACE_D_PROBE_H

#include "trace/d/d.h"
#include "trace/d/port.h"

struct d_ecb;

struct d_probe {
    struct d_ecb *ecbs; /* [a] in the order of enabling; changed under the control lock */
    const struct d_provider *provider;    /* [I] */
    const char *module, *function, *name; /* [I] */
    void *arg;                            /* [I] the provider's */
    uint32_t id;                          /* [I] */
    uint32_t predicate_id; /* [a] a thread that remembers it need not look: its only ECB's predicate
                              is false there; 0: none */
    uint32_t enabled;      /* [k] ECBs */
};

enum { D_PROBE_BEGIN = 1, D_PROBE_END = 2, D_PROBE_ERROR = 3 }; /* the first three, always */

/* Chunks never move, so that a firing can read the table while it grows. */
enum { D_PROBE_CHUNK = 64, D_PROBE_CHUNKS = 1024 };
extern struct d_probe *d_probe_chunks[D_PROBE_CHUNKS];
extern uint32_t d_probe_count;

static inline struct d_probe *d_probe_at(uint32_t id)
{
    return &d_probe_chunks[(id - 1) / D_PROBE_CHUNK][(id - 1) % D_PROBE_CHUNK];
}

/* Adds an ECB to the probe, or takes it away; enables or disables the probe at its provider. The
 * caller waits for firings under way before it frees the ECB. */
int d_probe_enable(struct d_probe *, struct d_ecb *);
void d_probe_disable(struct d_probe *, struct d_ecb *);
/* Whether an enabling of the probe needs it to fire on this CPU. once: the probe fires on one CPU
 * for each consumer, on the first one that the consumer traces (d_probe_fire_once()), not on all
 * that it traces. Control context. */
bool d_probe_wanted(const struct d_probe *, unsigned cpu, bool once);
/* After many of them. */
void d_probes_settle(void);

/* Whether the current thread remembers that nothing on this probe is for it. */
static inline bool d_probe_skips(const struct d_probe *p)
{
    uint32_t known = __atomic_load_n(&p->predicate_id, __ATOMIC_RELAXED);

    return known && *d_port_predicate_cache() == known;
}
/* What d_fire() does of a probe that the thread doesn't skip, with nothing else firing on this CPU:
 * the caller has called d_port_irq_save(). */
void d_probe_fire(const struct d_probe *, const uint64_t args[5]);
/* The same for the consumers whose first traced CPU is this one. */
void d_probe_fire_once(const struct d_probe *, const uint64_t args[5]);
/* Instead of that, if a firing is under way on this CPU: counts what is lost. (nested.c) */
__attribute__((cold)) void d_probe_nested(const struct d_probe *);

#endif
