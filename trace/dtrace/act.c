/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Actions: the data they record, and their other effects. A fault is left in the context; the bytes
 * of a record written by then are never committed. Probe context. Tested by test/trace/dtrace/fire.
 */
#include "trace/dtrace/fire.h"

#include "trace/assert.h"
#include "trace/dtrace/helper.h"
#include "trace/dtrace/own.h"
#include "trace/dtrace/port.h"

/* ---- recording of actions ---------------------------------------------------------- */

/* Stores the string that is the object's value; returns its length. A built-in one is copied
 * directly. A fault of the copy belongs to no instruction. */
static __attribute__((noinline)) uint32_t
eval_string(struct dtrace_context *c, const struct dtrace_object *o, uint8_t *to, uint32_t size)
{
    uint64_t address;

    if (o->flags & DTRACE_OBJECT_BUILTIN) {
        uint32_t n = dtrace_builtin_copy(c, o->text->index, to, size);
        if (n != (uint32_t)DTRACE_NO_STRING) {
            return n;
        }
    }
    address = dtrace_eval(c, o);
    if (c->fault.kind != DIF_FAULT_NONE) {
        return 0;
    }
    c->fault.offset = UINT32_MAX;
    return (uint32_t)dtrace_load_string(c, (char *)to, address, size, false);
}

static void store_stack(bool user, uint8_t *to, uint32_t frames)
{
    unsigned n = dtrace_port_stack(user, (uint64_t *)(void *)to, frames);

    __builtin_memset(to + n * 8, 0, (frames - n) * 8);
}

/* Stores the pid, the frames, then the room for their names: the names that helpers return; the
 * consumer finds all others itself. */
static void store_user_stack(struct dtrace_context *c, const struct dtrace_action *a, uint8_t *to)
{
    uint32_t frames = (uint32_t)a->arg, used = (frames + 1) * 8;

    trace_assert(used <= a->rec.size);
    dtrace_store_value(to, (uint32_t)dtrace_port_pid(), 8);
    if (DTRACE_PORT_HELPERS && a->object) {
        __builtin_memset(to + 8, 0, a->rec.size - 8);
        dtrace_helper_stack(c, a, to + 8, a->rec.size - used);
        return;
    }
    store_stack(true, to + 8, frames);
    __builtin_memset(to + used, 0, a->rec.size - used);
}

/* Stores an action's datum at `to`. Stacks need no object; all others have one. */
static void store_datum(struct dtrace_context *c, const struct dtrace_action *a, uint8_t *to)
{
    bool user = a->kind == DTRACE_ACT_USTACK || a->kind == DTRACE_ACT_JSTACK;
    /* a stack has no object, only helpers */
    bool here = (a->object && !(DTRACE_PORT_HELPERS && user)) || dtrace_own_process(c);

    if (!here) {
        return;
    }
    if (a->kind == DTRACE_ACT_STACK) {
        store_stack(false, to, (uint32_t)a->arg);
        return;
    }
    if (user) {
        store_user_stack(c, a, to);
        return;
    }
    if (a->is_string) { /* zeroes the field after its NUL */
        uint32_t n = eval_string(c, a->object, to, a->rec.size);
        __builtin_memset(to + n, 0, a->rec.size - n);
        return;
    }
    uint64_t value = dtrace_eval(c, a->object);
    if (c->fault.kind != DIF_FAULT_NONE) {
        return;
    }
    c->fault.offset = UINT32_MAX; /* a fault from here on belongs to no instruction */
    if (a->is_block) {
        dtrace_load_block(c, to, value, a->rec.size, false);
    } else if (a->rec.size == 16 && !dtrace_own_process(c)) {
        return;
    } else if (a->rec.size == 16) { /* usym and the like */
        dtrace_store_value(to, (uint32_t)dtrace_port_pid(), 8);
        dtrace_store_value(to + 8, value, 8);
    } else {
        dtrace_store_value(to, value, a->rec.size);
    }
}

/* Stores only the part of a string that distinguishes keys: the rest of its field is zeroed when
 * the key is new. */
static void store_string_key(struct dtrace_context *c, const struct dtrace_action *key, uint8_t *to)
{
    const struct dtrace_object *o = key->object;
    uint32_t n = (uint32_t)DTRACE_NO_STRING, size = key->rec.size;

    if (o->flags & DTRACE_OBJECT_BUILTIN) {
        n = dtrace_builtin_copy(c, o->text->index, to, size);
    }
    if (n == (uint32_t)DTRACE_NO_STRING) {
        n = eval_string(c, o, to, size);
    }
    if (n + 8 <= size) {
        __builtin_memset(to + n, 0, 8);
    } else {
        __builtin_memset(to + n, 0, size - n);
    }
}

/* Returns false after a fault. */
static inline bool store_keys(struct dtrace_context *c, const struct dtrace_aggregation *agg,
                              uint8_t *entry)
{
    const struct dtrace_action *key = agg->keys, *end = key + agg->nkeys;

    for (; key < end; key++) {
        uint8_t *to = entry + key->rec.offset;
        if (key->is_string) {
            store_string_key(c, key, to);
        } else if (key->is_plain) {
            dtrace_store_value(to, dtrace_eval(c, key->object), key->rec.size);
        } else {
            store_datum(c, key, to);
        }
        if (c->fault.kind != DIF_FAULT_NONE) {
            c->part = (uint32_t)(key - agg->keys);
            return false;
        }
    }
    return true;
}

static __attribute__((noinline)) void aggregate_value(struct dtrace_consumer_cpu *here,
                                                      const struct dtrace_action *a, uint8_t *entry)
{
    struct dtrace_context *c = &here->context;
    uint64_t value = dtrace_eval(c, a->object), weight = 1;

    if (a->weight && c->fault.kind == DIF_FAULT_NONE) {
        weight = dtrace_eval(c, a->weight);
    }
    if (c->fault.kind != DIF_FAULT_NONE) {
        c->part = a->agg->nkeys;
        return;
    }
    uint64_t *data = dtrace_agg_find(&here->agg, a->agg, entry);
    if (data) {
        dtrace_agg_update(a->agg, data, value, weight);
    }
}

/* Adds a value to its aggregation. An action without an object is count(): it has no value. */
void dtrace_act_aggregate(struct dtrace_consumer_cpu *here, const struct dtrace_action *a)
{
    const struct dtrace_aggregation *agg = a->agg;
    uint8_t *entry = dtrace_agg_entry(&here->agg);

    if (!entry) {
        here->agg.drops++;
    } else if (store_keys(&here->context, agg, entry)) {
        if (a->object) {
            aggregate_value(here, a, entry);
            return;
        }
        uint64_t *data = dtrace_agg_find(&here->agg, agg, entry);
        if (data) {
            ++*data;
        }
    }
}

/* ---- other actions ----------------------------------------------------------------- */

/* Reserves the clause's record in a speculation's buffer. Returns false if the clause is
 * abandoned. */
static bool act_speculate(struct dtrace_clause_run *run, uint64_t id)
{
    const struct dtrace_ecb *e = run->ecb;
    struct dtrace_consumer *c = e->consumer;

    run->buffer = dtrace_speculation_buffer(&c->speculations, id, run->here->context.cpu);
    if (!run->buffer) {
        return false;
    }
    run->record = dtrace_buffer_reserve(run->buffer, &c->shapes, e->size, e->align, false);
    if (!run->record) {
        run->here->speculative_drops++;
    }
    return run->record != NULL;
}

bool dtrace_act(struct dtrace_clause_run *run, const struct dtrace_action *a)
{
    struct dtrace_context *x = &run->here->context;
    struct dtrace_consumer *c = run->ecb->consumer;
    bool legal = true;

    if (a->rec.size && a->kind != DTRACE_ACT_EXIT) {
        store_datum(x, a, run->record + a->rec.offset);
        return true;
    }
    uint64_t value = a->object ? dtrace_eval(x, a->object) : 0;
    if (x->fault.kind != DIF_FAULT_NONE) {
        return true;
    }
    x->fault.offset = UINT32_MAX; /* a fault from here on belongs to no instruction */
    switch (a->kind) {
    case DTRACE_ACT_SPECULATE:
        return act_speculate(run, value);
    case DTRACE_ACT_COMMIT: /* the records overwrite this clause's scratch: its content is lost */
        legal = dtrace_speculation_commit(&c->speculations, value, x->cpu, &run->here->principal,
                                          &c->shapes);
        x->scratch_used = 0;
        x->strtok = 0;
        break;
    case DTRACE_ACT_DISCARD:
        legal = dtrace_speculation_discard(&c->speculations, value);
        break;
    case DTRACE_ACT_LOGSTOP:
        dtrace_port_logstop();
        break;
    case DTRACE_ACT_EXIT:
        dtrace_store_value(run->record + a->rec.offset, value, 4);
        dtrace_consumer_exit(c, (int32_t)value, false);
        break;
    default: /* otherwise a statement, or executed by the consumer */
        if (DTRACE_ACT_IS_DESTRUCTIVE(a->kind)) {
            dtrace_act_destructive(run, a->kind, value);
        }
    }
    if (!legal) {
        dtrace_fault(x, DIF_FAULT_ILLOP, 0);
    }
    return true;
}
