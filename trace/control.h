/* SPDX-License-Identifier: BSD-2-Clause */
/* State of the event log, shared by trace/control.c and state.c. Kernel lock. */
#ifndef TRACE_CONTROL_H
#define TRACE_CONTROL_H

#include "trace/consumer.h"
#include "trace/trace.h"

struct trace_state {
    struct trace_consumer log;     /* [k] consumer 0 */
    struct kymo_trace_owner owner; /* [k] pid and name of the most recent allocator */
    bool running;                  /* [k] between START and STOP */
    uint32_t starts;               /* [k] */
    bool dump_at_end;              /* [k] ring policy, started with a state dump */
    uint8_t policy;                /* [k] enum trace_policy, for all CPUs */
    bool overwrite;                /* [k] */
    uint64_t visits;               /* [k] bit per CPU: to be visited at its next exit */
};
extern struct trace_state trace_state;

long trace_state_start(bool dump);
long trace_state_stop(void); /* immediately, without a dump */
long trace_state_flush(void);
/* Implements FLUSHCPUS: cpus has a bit for each CPU. */
long trace_state_visit(uint64_t cpus);
long trace_state_alloc(void *owner, uint32_t per_cpu, uint64_t *paddr, bool retained);
void trace_state_dealloc(void);
long trace_state_mode(enum trace_policy policy);
void trace_state_overwrite(bool overwrite);
void trace_state_high_water(uint32_t slots);
/* Reads one CPU's loss account; runs on that CPU. */
void trace_state_query(unsigned cpu, struct kymo_trace_loss *out);
/* Reads the counts of events that the gate stopped on one CPU; runs on that CPU. */
void trace_state_stopped(unsigned cpu, struct kymo_trace_stopped *out);
long trace_state_take(struct kymo_trace_buffer *out);
long trace_state_give(uint32_t index);

#endif
