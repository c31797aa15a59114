/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A probe fires: every ECB on it whose consumer is in the right state looks at its predicate, finds
 * room, runs its actions and commits its record. A fault abandons the record and fires ERROR. Own
 * CPU, nothing else firing on it; no lock, no allocation, bounded time. Tested by test/d_fire.
 */
#include "trace/d/consumer.h"
#include "trace/d/port.h"

enum { HEADER = sizeof(struct d_record) };
#define CHILL_MAX 500000000u /* ns, in each CHILL_SPAN */
#define CHILL_SPAN 1000000000u

/* One clause under way. */
struct firing {
    const struct d_ecb *ecb;
    struct d_consumer *consumer;
    struct d_consumer_cpu *here;
    struct d_context *context;
    struct d_buffer *buffer; /* where its record goes */
    uint8_t *record;         /* NULL: none reserved */
    uint32_t action;         /* 1-based number of the one that runs; 0: the predicate */
};

static bool faulted(const struct firing *f)
{
    return f->context->fault.kind != DIF_FAULT_NONE;
}

/* ---- leaving -----------------------------------------------------------------------------------
 */

void d_consumer_exit(struct d_consumer *c, int32_t status, bool dropped)
{
    uint32_t from = D_STATE_ACTIVE;

    c->exit_status = status;
    __atomic_store_n(&c->exit_dropped, c->exit_dropped | dropped, __ATOMIC_RELAXED);
    __atomic_store_n(&c->exited, 1, __ATOMIC_RELEASE);
    if (!__atomic_compare_exchange_n(&c->state, &from, D_STATE_DRAINING, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE) &&
        from == D_STATE_WARMUP) {
        __atomic_compare_exchange_n(&c->state, &from, D_STATE_DRAINING, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED);
    }
}

/* There was no room for its record, but a clause that calls exit() ends tracing all the same. */
static __attribute__((noinline)) void exit_without_room(const struct d_ecb *e,
                                                        struct d_consumer_cpu *here)
{
    for (uint32_t i = 0; i < e->nactions; i++) {
        const struct d_action *a = &e->actions[i];
        if (a->kind == D_ACT_EXIT) {
            d_consumer_exit(e->consumer, (int32_t)d_run(&here->context, a->object), true);
        }
    }
}

/* ---- what an action records --------------------------------------------------------------------
 */

static void store_value(uint8_t *to, uint64_t value, uint32_t size)
{
    switch (size) {
    case 8:
        __builtin_memcpy(to, &value, 8);
        break;
    case 4:
        __builtin_memcpy(to, &value, 4);
        break;
    case 2:
        __builtin_memcpy(to, &value, 2);
        break;
    default:
        *to = (uint8_t)value;
    }
}

/* Behind its NUL a string's field is zero. */
static void store_string(struct d_context *c, uint8_t *to, uint64_t address, uint32_t size)
{
    size_t n = d_load_string(c, (char *)to, address, size, false);

    __builtin_memset(to + n, 0, size - n);
}

static void store_result(struct d_context *c, const struct d_action *a, uint64_t value, uint8_t *to)
{
    if (a->is_string) {
        store_string(c, to, value, a->rec.size);
    } else if (a->is_ref) {
        d_load_block(c, to, value, a->rec.size, false);
    } else {
        store_value(to, value, a->rec.size);
    }
}

static void store_stack(bool user, uint8_t *to, uint32_t frames)
{
    unsigned n = d_port_stack(user, (uint64_t *)(void *)to, frames);

    __builtin_memset(to + n * 8, 0, (frames - n) * 8);
}

/* The pid, the frames, then room for names, which the consumer finds itself. */
static void store_ustack(const struct d_action *a, uint8_t *to)
{
    uint32_t frames = (uint32_t)a->arg;
    uint32_t used = (frames + 1) * 8;

    store_value(to, (uint32_t)d_port_pid(), 8);
    store_stack(true, to + 8, frames);
    __builtin_memset(to + used, 0, a->rec.size - used);
}

/* Its datum at `to`. Stacks need no object; all others have one. */
static void store_datum(struct d_context *c, const struct d_action *a, uint8_t *to)
{
    switch (a->kind) {
    case D_ACT_STACK:
        store_stack(false, to, (uint32_t)a->arg);
        return;
    case D_ACT_USTACK:
    case D_ACT_JSTACK:
        store_ustack(a, to);
        return;
    default:
        break;
    }
    uint64_t value = d_run(c, a->object);
    if (c->fault.kind != DIF_FAULT_NONE) {
        return;
    }
    switch (a->kind) {
    case D_ACT_USYM:
    case D_ACT_UMOD:
    case D_ACT_UADDR:
        store_value(to, (uint32_t)d_port_pid(), 8);
        store_value(to + 8, value, 8);
        break;
    case D_ACT_TRACEMEM:
    case D_ACT_TRACEMEM_DYNSIZE:
        c->fault.offset = UINT32_MAX;
        d_load_block(c, to, value, a->rec.size, false);
        break;
    default:
        c->fault.offset = UINT32_MAX; /* a fault from here on is none of an instruction */
        store_result(c, a, value, to);
    }
}

/* What most clauses record first. A fault of the copy is none of an instruction. */
static inline void store_any(struct d_context *c, const struct d_action *a, uint8_t *to)
{
    if (a->is_plain) {
        store_value(to, d_eval(c, a->object), a->rec.size);
        return;
    }
    if (!a->is_text) {
        store_datum(c, a, to);
        return;
    }
    uint64_t address = d_eval(c, a->object);
    if (c->fault.kind == DIF_FAULT_NONE) {
        c->fault.offset = UINT32_MAX;
        store_string(c, to, address, a->rec.size);
    }
}

/* ---- actions that do something else ------------------------------------------------------------
 */

static void aggregate(struct firing *f, const struct d_action *a)
{
    const struct d_aggregation *agg = a->agg;
    uint8_t *entry = d_agg_entry(&f->here->agg);
    uint64_t weight = 1;

    if (!entry) {
        f->here->agg.drops++;
        return;
    }
    for (uint32_t i = 0; i < agg->nkeys; i++) {
        const struct d_action *key = &agg->keys[i];
        store_any(f->context, key, entry + key->rec.offset);
        if (faulted(f)) {
            return;
        }
    }
    uint64_t value = a->object ? d_eval(f->context, a->object) : 0;
    if (a->weight) {
        weight = d_eval(f->context, a->weight);
    }
    if (!faulted(f)) {
        d_agg_fold(&f->here->agg, agg, entry, value, weight);
    }
}

static bool reserve(struct firing *f)
{
    f->record = d_buffer_reserve(f->buffer, &f->consumer->shapes, f->ecb->size, f->ecb->align,
                                 f->ecb->probe->id == D_PROBE_END);
    return f->record != NULL;
}

/* From here on the record belongs to a speculation. False: the clause is abandoned. */
static bool speculate(struct firing *f, uint64_t id)
{
    struct d_buffer *b = d_speculation_buffer(&f->consumer->speculations, id, f->context->cpu);

    if (!b) {
        return false;
    }
    f->buffer = b;
    if (!reserve(f)) {
        f->here->speculative_drops++;
        return false;
    }
    return true;
}

static void chill(struct firing *f, uint64_t ns)
{
    struct d_consumer_cpu *here = f->here;
    uint64_t now = d_port_timestamp();

    if (now - here->chill_since > CHILL_SPAN) {
        here->chill_since = now;
        here->chilled = 0;
    }
    if (ns > CHILL_MAX || here->chilled + ns > CHILL_MAX) {
        d_fault(f->context, DIF_FAULT_ILLOP, 0);
        return;
    }
    here->chilled += ns;
    d_port_chill(ns);
}

static void want_speculation(struct firing *f, bool ok)
{
    if (!ok) {
        d_fault(f->context, DIF_FAULT_ILLOP, 0);
    }
}

/* False: the clause is abandoned, without a fault. */
static bool act_otherwise(struct firing *f, const struct d_action *a)
{
    struct d_context *c = f->context;
    uint64_t value = a->object ? d_run(c, a->object) : 0;

    if (faulted(f)) {
        return true;
    }
    switch (a->kind) {
    case D_ACT_SPECULATE:
        return speculate(f, value);
    case D_ACT_COMMIT:
        want_speculation(f, d_speculation_commit(&f->consumer->speculations, value, c->cpu,
                                                 &f->here->principal, &f->consumer->shapes));
        break;
    case D_ACT_DISCARD:
        want_speculation(f, d_speculation_discard(&f->consumer->speculations, value));
        break;
    case D_ACT_EXIT:
        store_value(f->record + a->rec.offset, value, 4);
        d_consumer_exit(f->consumer, (int32_t)value, false);
        break;
    case D_ACT_STOP:
        d_port_stop_process();
        break;
    case D_ACT_RAISE:
        d_port_raise((int)value);
        break;
    case D_ACT_BREAKPOINT:
        d_port_breakpoint();
        break;
    case D_ACT_PANIC:
        d_port_panic();
        break;
    case D_ACT_CHILL:
        chill(f, value);
        break;
    default: /* a statement, or what the consumer does */
        break;
    }
    return true;
}

static bool act(struct firing *f, const struct d_action *a)
{
    if (a->agg) {
        aggregate(f, a);
        return true;
    }
    if (a->rec.size && a->kind != D_ACT_EXIT) {
        store_datum(f->context, a, f->record + a->rec.offset);
        return true;
    }
    return act_otherwise(f, a);
}

/* ---- faults ------------------------------------------------------------------------------------
 */

enum { CPUS = 64 };
static uint64_t error_address[CPUS]; /* [c] while ERROR fires */

uint64_t d_error_argument(uint32_t probe, void *arg, unsigned n)
{
    (void)probe;
    (void)arg;
    return n == 5 ? error_address[d_port_cpu() % CPUS] : 0;
}

/* ERROR, for this consumer only. The context is free again: its clause is over. */
static __attribute__((noinline)) void report(struct firing *f)
{
    struct d_fault fault = f->context->fault;
    const struct d_probe *error = d_probe_at(D_PROBE_ERROR);
    uint64_t offset = fault.offset == UINT32_MAX ? UINT64_MAX : fault.offset;
    const uint64_t args[5] = {0, f->ecb->epid, f->action, offset, (uint64_t)fault.kind};

    f->here->principal.errors++;
    __atomic_add_fetch(&f->consumer->errors, 1, __ATOMIC_RELAXED);
    if (f->ecb->probe->id == D_PROBE_ERROR) {
        __atomic_add_fetch(&f->consumer->double_errors, 1, __ATOMIC_RELAXED);
        return;
    }
    error_address[d_port_cpu() % CPUS] = fault.address;
    for (const struct d_ecb *e = error->ecbs; e; e = e->next) {
        if (e->consumer == f->consumer) {
            d_ecb_fire(e, args);
        }
    }
}

/* ---- a clause ----------------------------------------------------------------------------------
 */

static inline void commit(struct d_buffer *b, uint8_t *record, const struct d_ecb *e,
                          struct d_context *x)
{
    bool known = x->present >> D_ONCE_TIMESTAMP & 1;
    uint64_t now = known ? x->once[D_ONCE_TIMESTAMP] : d_port_timestamp();
    struct d_record head = {e->epid, (uint32_t)(now >> 32), (uint32_t)now};

    __builtin_memcpy(record, &head, HEADER);
    d_buffer_commit(b, record, e->size);
}

/* The actions, until one abandons the clause or faults. */
static __attribute__((noinline)) void run_actions(const struct d_ecb *e,
                                                  struct d_consumer_cpu *here, uint8_t *record)
{
    struct d_context *x = &here->context;
    struct firing f = {e, e->consumer, here, x, &here->principal, record, 0};
    bool goes_on = true;

    while (f.action < e->nactions && goes_on) {
        const struct d_action *a = &e->actions[f.action++];
        if (a->is_plain || a->is_text) {
            store_any(x, a, f.record + a->rec.offset);
        } else {
            goes_on = act(&f, a);
        }
        if (faulted(&f)) {
            report(&f);
            goes_on = false;
        }
    }
    if (goes_on && f.record) {
        commit(f.buffer, f.record, e, x);
    }
}

static __attribute__((noinline)) void report_predicate(const struct d_ecb *e,
                                                       struct d_consumer_cpu *here)
{
    struct firing f = {e, e->consumer, here, &here->context, &here->principal, NULL, 0};

    report(&f);
}

/* A predicate that hangs on the thread alone is false for it for ever. */
static inline bool predicate_holds(const struct d_ecb *e, struct d_consumer_cpu *here)
{
    uint64_t value = d_eval(&here->context, e->predicate);

    if (value) {
        return true;
    }
    if (here->context.fault.kind != DIF_FAULT_NONE) {
        report_predicate(e, here);
    } else if (e->predicate_id) {
        *d_port_predicate_cache() = e->predicate_id;
    }
    return false;
}

static inline __attribute__((always_inline)) void fire_ecb(const struct d_ecb *e, const uint64_t args[5])
{
    struct d_consumer *c = e->consumer;
    struct d_consumer_cpu *here = &c->cpus[d_port_cpu()];
    uint8_t *record = NULL;

    if (!(e->states >> __atomic_load_n(&c->state, __ATOMIC_ACQUIRE) & 1) || !here->traced) {
        return;
    }
    d_context_clause(&here->context, e, args);
    if (e->predicate && !predicate_holds(e, here)) {
        return;
    }
    if (e->reserves) {
        record = d_buffer_reserve(&here->principal, &c->shapes, e->size, e->align,
                                  e->probe->id == D_PROBE_END);
        if (!record) {
            if (e->exits) {
                exit_without_room(e, here);
            }
            return;
        }
    }
    if (e->nactions) {
        run_actions(e, here, record);
    } else {
        commit(&here->principal, record, e, &here->context);
    }
}

void d_ecb_fire(const struct d_ecb *e, const uint64_t args[5])
{
    fire_ecb(e, args);
}

void d_fire(uint32_t probe, uint64_t arg0, uint64_t arg1, uint64_t arg2, uint64_t arg3,
            uint64_t arg4)
{
    const struct d_probe *p = d_probe_at(probe);
    uint32_t known = __atomic_load_n(&p->predicate_id, __ATOMIC_RELAXED);

    if (known && *d_port_predicate_cache() == known) {
        return;
    }
    const uint64_t args[5] = {arg0, arg1, arg2, arg3, arg4};
    uintptr_t irq = d_port_irq_save();
    for (const struct d_ecb *e = __atomic_load_n(&p->ecbs, __ATOMIC_ACQUIRE); e;
         e = __atomic_load_n(&e->next, __ATOMIC_ACQUIRE)) {
        fire_ecb(e, args);
    }
    d_port_irq_restore(irq);
}

/* Under switch the tail behind the record, whether it has its room yet or not. */
void d_scratch_find(struct d_context *x)
{
    const struct d_ecb *e = x->ecb;
    const struct d_buffer *b = &e->consumer->cpus[x->cpu].principal;

    x->scratch = d_buffer_scratch(b, b->offset + 8 + e->size, &x->scratch_size);
}
