/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by fire.c, which runs a clause, and act.c, which implements its actions. Probe context. */
#ifndef TRACE_DTRACE_FIRE_H
#define TRACE_DTRACE_FIRE_H

#include "trace/dtrace/consumer.h"

/* A running clause that does more than record values and aggregate. */
struct dtrace_clause_run {
    const struct dtrace_ecb *ecb;
    struct dtrace_consumer_cpu *here;
    struct dtrace_buffer *buffer; /* receives its record */
    uint8_t *record;              /* NULL: none reserved */
};

/* Runs an action of any kind except an aggregating one. Returns false if the clause is abandoned
 * without a fault. */
bool dtrace_act(struct dtrace_clause_run *, const struct dtrace_action *);
/* Implemented by destructive.c; by subr_none.c as an illegal operation, unless the consumer
 * executes it. */
void dtrace_act_destructive(struct dtrace_clause_run *, uint16_t kind, uint64_t value);
void dtrace_act_aggregate(struct dtrace_consumer_cpu *, const struct dtrace_action *);

static inline void dtrace_store_value(uint8_t *to, uint64_t value, uint32_t size)
{
    if (size == 8) {
        __builtin_memcpy(to, &value, 8);
    } else if (size == 4) {
        __builtin_memcpy(to, &value, 4);
    } else if (size == 2) {
        __builtin_memcpy(to, &value, 2);
    } else {
        *to = (uint8_t)value;
    }
}

#endif
