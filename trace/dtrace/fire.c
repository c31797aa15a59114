/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probe firing: every ECB on the probe whose consumer is in the right state evaluates its
 * predicate, reserves room, runs its actions and commits its record. A fault abandons the record
 * and fires ERROR. The common cases are inline in this file, all others in act.c. Own CPU, no other
 * probe firing on it; no lock, no allocation, bounded time. Tested by test/trace/dtrace/fire;
 * instructions counted by test/bench.
 */
#include "trace/dtrace/fire.h"

#include "abi/compiler.h"
#include "trace/assert.h"
#include "trace/atomic.h"
#include "trace/dtrace/counter.h"
#include "trace/dtrace/machine.h"
#include "trace/dtrace/log.h"
#include "trace/dtrace/own.h"
#include "trace/dtrace/port.h"
#include "trace/dtrace/probe.h"

enum { HEADER = sizeof(struct dtrace_record) };

/* ---- leaving ----------------------------------------------------------------------- */

COLD void dtrace_consumer_exit(struct dtrace_consumer *c, int32_t status, bool dropped)
{
    c->exit_status = status;
    trace_atomic_or(&c->exit_dropped, dropped, __ATOMIC_RELAXED);
    trace_atomic_store(&c->exited, 1, __ATOMIC_RELEASE);
    if (!trace_atomic_cas(&c->state, DTRACE_STATE_ACTIVE, DTRACE_STATE_DRAINING,
                          __ATOMIC_ACQ_REL)) {
        trace_atomic_cas(&c->state, DTRACE_STATE_WARMUP, DTRACE_STATE_DRAINING, __ATOMIC_ACQ_REL);
    }
}

/* ---- faults ------------------------------------------------------------------------ */

static uint64_t error_address[DTRACE_CPUS_MOST]; /* [c] while ERROR fires */

COLD uint64_t dtrace_error_argument(uint32_t probe, void *arg, unsigned n)
{
    (void)arg;
    return n == 5 && probe == DTRACE_PROBE_ERROR
               ? error_address[dtrace_port_cpu() % DTRACE_CPUS_MOST]
               : 0;
}

/* Fires ERROR, for this consumer only. The context is free again, because the faulting clause has
 * ended. action: its number from 1; 0: the predicate. */
static COLD void report_error(const struct dtrace_ecb *from, struct dtrace_consumer_cpu *here,
                              uint64_t action)
{
    struct dtrace_fault fault = here->context.fault;
    struct dtrace_consumer *c = from->consumer;
    uint64_t offset = fault.offset == UINT32_MAX ? UINT64_MAX : fault.offset;
    const uint64_t args[5] = {0, from->epid, action, offset, (uint64_t)fault.kind};

    here->principal.errors++;
    dtrace_count(&c->errors);
    if (from->probe->id == DTRACE_PROBE_ERROR) {
        dtrace_count(&c->double_errors);
        return;
    }
    error_address[dtrace_port_cpu() % DTRACE_CPUS_MOST] = fault.address;
    dtrace_ecbs_fire(c->error, args);
}

/* action: counted from 0. */
static COLD void report_action(const struct dtrace_ecb *e, struct dtrace_consumer_cpu *here,
                               uint32_t action)
{
    const struct dtrace_action *a = &e->actions[action];

    report_error(e, here, a->number + (a->agg ? here->context.part : 0));
}

/* Ends tracing for a clause that calls exit() although there was no room for its record. */
static COLD void exit_without_room(const struct dtrace_ecb *e, struct dtrace_consumer_cpu *here)
{
    for (uint32_t i = 0; i < e->nactions; i++) {
        const struct dtrace_action *a = &e->actions[i];
        int32_t status =
            a->kind == DTRACE_ACT_EXIT ? (int32_t)dtrace_eval(&here->context, a->object) : 0;
        if (here->context.fault.kind != DIF_FAULT_NONE) {
            report_action(e, here, i);
            return;
        }
        if (a->kind == DTRACE_ACT_EXIT) {
            dtrace_consumer_exit(e->consumer, status, true);
        }
    }
}

/* ---- a clause ---------------------------------------------------------------------- */

static DTRACE_HOT void fire_commit_at(const struct dtrace_ecb *e, uint64_t now,
                                      struct dtrace_buffer *b, uint8_t *record)
{
    struct dtrace_record *head = (void *)record;

    trace_assert(e->size >= HEADER);
    head->epid = e->epid;
    head->time_high = (uint32_t)(now >> 32);
    head->time_low = (uint32_t)now;
    dtrace_buffer_commit(b, record, e->size);
}

/* The time of a clause is looked up once. */
static DTRACE_HOT void fire_commit(const struct dtrace_ecb *e, const struct dtrace_context *x,
                                   struct dtrace_buffer *b, uint8_t *record)
{
    bool known = x->present >> DTRACE_ONCE_TIMESTAMP & 1;
    uint64_t now = known ? x->once[DTRACE_ONCE_TIMESTAMP] : dtrace_port_timestamp();

    fire_commit_at(e, now, b, record);
}

/* Runs the actions from this one on, of any kind. */
static COLD void run_others(const struct dtrace_ecb *e, struct dtrace_consumer_cpu *here,
                            uint8_t *record, uint32_t i)
{
    struct dtrace_clause_run run = {e, here, &here->principal, record};

    for (; i < e->nactions; i++) {
        const struct dtrace_action *a = &e->actions[i];
        if (a->agg) {
            dtrace_act_aggregate(here, a);
        } else if (!dtrace_act(&run, a)) {
            return;
        }
        if (here->context.fault.kind != DIF_FAULT_NONE) {
            report_action(e, here, i);
            return;
        }
    }
    if (run.record) {
        fire_commit(e, &here->context, run.buffer, run.record);
    }
}

/* Reserves a record where the fast path can't. Returns NULL if there is no room, and the clause has
 * ended. */
static COLD uint8_t *reserve_else(const struct dtrace_ecb *e, struct dtrace_consumer_cpu *here)
{
    uint8_t *record = dtrace_buffer_reserve_else(&here->principal, &e->consumer->shapes, e->size,
                                                 e->align, e->probe->id == DTRACE_PROBE_END);

    if (!record && e->exits) {
        exit_without_room(e, here);
    }
    return record;
}

static inline uint8_t *fire_reserve(const struct dtrace_ecb *e, struct dtrace_consumer_cpu *here)
{
    uint8_t *record = dtrace_buffer_next(&here->principal, e->size, e->align);

    return record ? record : reserve_else(e, here);
}

/* The loop for clauses that only record values, assign and aggregate, as most do. */
static __attribute__((noinline)) void run_actions(const struct dtrace_ecb *e,
                                                  struct dtrace_consumer_cpu *here)
{
    struct dtrace_context *x = &here->context;
    uint8_t *record = NULL;

    if (e->reserves && !(record = fire_reserve(e, here))) {
        return;
    }
    for (uint32_t i = 0; i < e->nactions; i++) {
        const struct dtrace_action *a = &e->actions[i];
        if (a->is_plain) {
            dtrace_store_value(record + a->rec.offset, dtrace_eval(x, a->object), a->rec.size);
        } else if (a->agg) {
            dtrace_act_aggregate(here, a);
        } else if (a->is_statement) {
            dtrace_eval(x, a->object);
        } else {
            run_others(e, here, record, i);
            return;
        }
        if (x->fault.kind != DIF_FAULT_NONE) {
            report_action(e, here, i);
            return;
        }
    }
    if (record) {
        fire_commit(e, &here->context, &here->principal, record);
    }
}

/* A predicate that depends only on the thread stays false for it. */
static inline bool predicate_holds(const struct dtrace_ecb *e, struct dtrace_consumer_cpu *here)
{
    uint64_t value = dtrace_eval(&here->context, e->predicate);

    if (value) {
        return true;
    }
    if (here->context.fault.kind != DIF_FAULT_NONE) {
        report_error(e, here, 0);
    } else if (e->predicate_id) {
        dtrace_port_thread_state()->predicate_cache = e->predicate_id;
    }
    return false;
}

static DTRACE_HOT void fire_ecb(const struct dtrace_ecb *e, const uint64_t args[5])
{
    struct dtrace_consumer *c = e->consumer;
    struct dtrace_consumer_cpu *here = &c->cpus[dtrace_port_cpu()];

    trace_assert(dtrace_port_cpu() < c->ncpus && here->context.cpu == dtrace_port_cpu());
    uint32_t states = e->states;
    if (!(states >> trace_atomic_load(&c->state, __ATOMIC_ACQUIRE) & 1) || !here->traced) {
        if (states >> DTRACE_ECB_ASIDE) {
            dtrace_log_fire(e, here, args);
        }
        return;
    }
    if (states & DTRACE_ECB_FIRST) {
        here->context.strtok = 0;
    }
    /* Likely: the shortest path continues directly with the next ECB. */
    if (likely(states & DTRACE_ECB_BARE)) { /* no code of it uses its context */
        uint8_t *record = fire_reserve(e, here);
        if (record) {
            fire_commit_at(e, dtrace_port_timestamp(), &here->principal, record);
        }
        return;
    }
    dtrace_context_clause(&here->context, e, args);
    if (e->predicate && !predicate_holds(e, here)) {
        return;
    }
    if (e->path == DTRACE_PATH_ALL) {
        run_actions(e, here);
    } else {
        dtrace_act_aggregate(here, e->actions);
        if (here->context.fault.kind != DIF_FAULT_NONE) {
            report_action(e, here, 0);
        }
    }
}

/* Fires every ECB on the probe; nearly always there is one. */
void dtrace_probe_fire(const struct dtrace_probe *p, const uint64_t args[5])
{
    const struct dtrace_ecb *e = trace_atomic_load(&p->ecbs, __ATOMIC_ACQUIRE);

    if (!e) {
        return;
    }
    do {
        fire_ecb(e, args);
        e = trace_atomic_load(&e->next, __ATOMIC_ACQUIRE);
    } while (unlikely(e != NULL));
}

/* Fires one ECB as the only one of a probe, so that the code of the fast path exists once. */
COLD void dtrace_ecb_fire_copy(struct dtrace_ecb *copy, const uint64_t args[5])
{
    const struct dtrace_probe probe = {.ecbs = copy};

    copy->next = NULL;
    dtrace_probe_fire(&probe, args);
}

COLD void dtrace_ecb_fire(const struct dtrace_ecb *e, const uint64_t args[5])
{
    struct dtrace_ecb copy = *e;

    dtrace_ecb_fire_copy(&copy, args);
}

COLD void dtrace_ecbs_fire(const struct dtrace_ecb *first, const uint64_t args[5])
{
    for (const struct dtrace_ecb *e = first; e && e->consumer == first->consumer;
         e = trace_atomic_load(&e->next, __ATOMIC_ACQUIRE)) {
        dtrace_ecb_fire(e, args);
    }
}

COLD void dtrace_probe_fire_once(const struct dtrace_probe *p, const uint64_t args[5])
{
    const struct dtrace_ecb *e = trace_atomic_load(&p->ecbs, __ATOMIC_ACQUIRE);
    unsigned cpu = dtrace_port_cpu();

    for (; e; e = trace_atomic_load(&e->next, __ATOMIC_ACQUIRE)) {
        if (e->consumer->first_cpu == cpu) {
            dtrace_ecb_fire(e, args);
        }
    }
}

/* A probe has fired inside a clause on this CPU, in a function that the machine or its port calls.
 * Its clauses can't run, because contexts and buffers are in use: each counts as a drop. An NMI's
 * probe, between any two instructions of the outer one, would be miscounted. */
COLD void dtrace_probe_nested(const struct dtrace_probe *p)
{
    unsigned cpu = dtrace_port_cpu();

    for (const struct dtrace_ecb *e = trace_atomic_load(&p->ecbs, __ATOMIC_ACQUIRE); e;
         e = trace_atomic_load(&e->next, __ATOMIC_ACQUIRE)) {
        struct dtrace_consumer_cpu *here = &e->consumer->cpus[cpu];
        uint32_t state = trace_atomic_load(&e->consumer->state, __ATOMIC_ACQUIRE);
        uint32_t states = e->states | e->states >> DTRACE_ECB_ASIDE;
        bool sees = !e->consumer->own || dtrace_own_sees(e);
        here->principal.drops += here->traced && sees && (states >> state & 1);
    }
}

/* Under the policy switch, scratch is the tail after the record, whether the record is reserved yet
 * or not. */
void dtrace_scratch_find(struct dtrace_context *x)
{
    const struct dtrace_ecb *e = x->ecb;
    const struct dtrace_buffer *b = &e->consumer->cpus[x->cpu].principal;

    x->scratch = dtrace_buffer_scratch(b, b->offset + 8 + e->size, &x->scratch_size);
}
