/* SPDX-License-Identifier: BSD-2-Clause */
/* The event log as a whole: shared by trace/control.c, state.c. Kernel lock. */
#ifndef TRACE_CONTROL_H
#define TRACE_CONTROL_H

#include "trace/consumer.h"
#include "trace/trace.h"

struct trace_state {
    struct trace_consumer log;     /* [k] consumer 0 */
    struct kymo_trace_owner owner; /* [k] pid and name of who allocated last */
    bool running;                  /* [k] between START and STOP */
    bool dump_at_end;              /* [k] ring mode, started with its state */
    uint8_t policy;                /* [k] enum trace_policy, for all CPUs */
    bool overwrite;                /* [k] */
    uint64_t visits;               /* [k] bit per CPU: to be visited at its next exit */
};
extern struct trace_state trace_state;

long trace_state_start(bool dump);
long trace_state_stop(void); /* at once, no dump */
long trace_state_flush(void);
/* FLUSHCPUS: a bit for each CPU. */
long trace_state_visit(uint64_t cpus);
long trace_state_alloc(void *owner, uint32_t per_cpu, uint64_t *paddr, bool retained);
void trace_state_dealloc(void);
long trace_state_mode(enum trace_policy policy);
void trace_state_overwrite(bool overwrite);
void trace_state_high_water(uint32_t slots);
/* The account of one CPU, taken on that CPU. */
void trace_state_query(unsigned cpu, struct kymo_trace_loss *out);
/* What the gate has stopped on one CPU, likewise. */
void trace_state_stopped(unsigned cpu, struct kymo_trace_stopped *out);
long trace_state_take(struct kymo_trace_buffer *out);
long trace_state_give(uint32_t index);

#endif
