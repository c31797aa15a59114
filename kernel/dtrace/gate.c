/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The event log's gate (trace/gate.h), controlled by a D program of the boot image: a consumer that
 * is created but never enabled on its probes. Its clauses are on probes of sdt and syscall and have
 * no actions. An event may pass if a clause on its probe has no predicate, or one that is true or
 * faults: a fault keeps no event from the log. An event inside a clause of D also passes. A kernel
 * call's INT event is treated like its entry. A clause may call logstop(): the event passes and
 * triggers the log (trace/trigger.h), unless the clause faulted. With the option cpu the clauses
 * apply to that CPU only; on the others nothing passes.
 *
 * Setting: kernel lock. Querying: own CPU, interrupts masked, no lock: the clauses are found by the
 * event's key, and don't change while the gate is armed. Tested by test/board/gate.py.
 */
#include "abi/compiler.h"
#include "kernel/arch/board.h"
#include "kernel/arch/cpu.h"
#include "kernel/dtrace/gate.h"

#include "abi/errno.h"
#include "abi/sys/ability.h"
#include "kernel/program/program.h"
#include "kernel/base/cpu.h"
#include "kernel/dtrace/dtrace.h"
#include "kernel/proc/proc.h"
#include "kernel/base/kercall.h"
#include "kernel/base/string.h"
#include "kernel/base/window.h"
#include "trace/dtrace/consumer.h"
#include "trace/gate.h"
#include "trace/trigger.h"

/* One key for each site, each state, and each kernel call's entry and return. */
enum {
    STATES = 32,
    FIRST_STATE = TRACE_EV_COUNT,
    FIRST_ENTRY = FIRST_STATE + STATES,
    FIRST_RETURN = FIRST_ENTRY + KERCALL_MAX,
    KEYS = FIRST_RETURN + KERCALL_MAX
};

static struct {
    struct dtrace_consumer *consumer; /* [k] changes only while the gate is not armed */
    /* [k] likewise: the first ECB of each key; the others follow by ecb.next */
    struct dtrace_block clauses;
} gate;

static unsigned key_of(unsigned site, unsigned number)
{
    switch (site) {
    case TRACE_EV_thread_state:
        return FIRST_STATE + number % STATES;
    case TRACE_EV_kercall_enter:
    case TRACE_EV_kercall_int:
        return FIRST_ENTRY + number % KERCALL_MAX;
    case TRACE_EV_kercall_exit:
        return FIRST_RETURN + number % KERCALL_MAX;
    default:
        return site;
    }
}

/* ---- queries ----------------------------------------------------------------------- */

static bool gate_holds(const struct dtrace_ecb *e, const uint64_t *words)
{
    struct dtrace_consumer_cpu *here = &e->consumer->cpus[arch_cpu()->trace.id];
    struct dtrace_context *x = &here->context;

    if (!e->predicate || !here->traced) {
        return here->traced;
    }
    dtrace_context_clause(x, e, words);
    return dtrace_eval(x, e->predicate) || x->fault.kind != DIF_FAULT_NONE;
}

static void gate_trigger(const struct dtrace_ecb *e)
{
    const struct dtrace_context *x = &e->consumer->cpus[arch_cpu()->trace.id].context;

    if (e->nactions > 0 && (!e->predicate || x->fault.kind == DIF_FAULT_NONE)) {
        trace_trigger();
    }
}

bool trace_port_passes(unsigned site, unsigned number, const uint64_t *words)
{
    struct dtrace_ecb *const *clauses = gate.clauses.at;
    bool passes = false;

    if (arch_cpu()->trace.fired) {
        return true;
    }
    arch_cpu()->trace.fired = words;
    for (const struct dtrace_ecb *e = clauses[key_of(site, number)]; e; e = e->next) {
        if ((!passes || e->nactions > 0) && gate_holds(e, words)) {
            passes = true;
            gate_trigger(e);
        }
    }
    arch_cpu()->trace.fired = NULL;
    return passes;
}

/* ---- setting ----------------------------------------------------------------------- */

static void gate_set_text(struct kymo_trace_refusal *why, const char *text)
{
    for (size_t i = 0; text[i] && i < sizeof(why->text) - 1; i++) {
        why->text[i] = text[i];
    }
}

static int gate_refuse(struct kymo_trace_refusal *why, enum kymo_gate_reason reason)
{
    why->reason = reason;
    return -EINVAL;
}

/* Inserts an ECB under its events' key. Every program has a clause for faults in addition to its
 * own ones. */
static int gate_place(struct dtrace_ecb *e, struct kymo_trace_refusal *why)
{
    struct dtrace_ecb **clauses = gate.clauses.at;
    unsigned site, number;

    if (e->clause == DTRACE_CLAUSE_FAULT) {
        return 0;
    }
    why->clause = e->clause;
    if (!dtrace_sites_event(e->probe, &site, &number) &&
        !dtrace_syscall_event(e->probe, &site, &number)) {
        return gate_refuse(why, KYMO_GATE_PROBE);
    }
    for (uint32_t i = 0; i < e->nactions; i++) {
        if (e->actions[i].kind != DTRACE_ACT_LOGSTOP) {
            return gate_refuse(why, KYMO_GATE_ACTION);
        }
    }
    e->next = clauses[key_of(site, number)];
    clauses[key_of(site, number)] = e;
    return 0;
}

/* Refuses destructive programs: the log's owner need not have the right to write to other
 * processes. */
static int only_looks(const struct dtrace_code *code, struct kymo_trace_refusal *why)
{
    for (uint32_t i = 0; i < code->nobjects; i++) {
        if (code->objects[i].flags & DTRACE_OBJECT_DESTRUCTIVE) {
            return gate_refuse(why, KYMO_GATE_WRITES);
        }
    }
    return 0;
}

static void gate_close(void)
{
    if (gate.consumer) {
        dtrace_consumer_destroy(gate.consumer);
    }
    dtrace_block_free(&gate.clauses);
    gate.consumer = NULL;
}

static int gate_place_all(struct kymo_trace_refusal *why)
{
    struct dtrace_consumer *c = gate.consumer;
    int error = only_looks(&c->code, why);

    if (!error && !dtrace_block_make(&gate.clauses, KEYS * sizeof(struct dtrace_ecb *))) {
        error = -ENOMEM;
    }
    for (uint32_t i = c->necbs; i > 0 && !error; i--) {
        error = gate_place(&c->ecbs[i - 1], why);
    }
    if (error) {
        gate_close();
    } else if (c->code.ndynamics > 0) {
        dtrace_clean_from_now_on(); /* memory released by predicates must be reclaimed */
    }
    return error;
}

/* Returns the program's bytes of a file; `kymo dtrace --compile` appends the source. */
static size_t program_bytes(const struct cpio_file *file, const struct dtrace_image *image)
{
    return file->len >= sizeof(*image) && image->size < file->len ? image->size : file->len;
}

/* Copies the image, which is not aligned in the archive, as the machine requires. */
static int gate_create(const struct cpio_file *file, struct kymo_trace_refusal *why)
{
    struct dtrace_block copy = {NULL, 0};
    struct dtrace_refusal refusal = {0};

    if (!dtrace_block_make(&copy, file->len + 1)) {
        return -ENOMEM;
    }
    memcpy(copy.at, file->data, file->len);
    int error =
        dtrace_consumer_create(copy.at, program_bytes(file, copy.at), 0, &gate.consumer, &refusal);
    dtrace_block_free(&copy);
    if (error) {
        gate.consumer = NULL;
        why->reason = refusal.reason;
        gate_set_text(why, dtrace_refusal_text(&refusal));
    }
    return error;
}

COLD int trace_port_gate(const char *name, struct kymo_trace_refusal *why)
{
    kernel_assert(kernel_locked());
    struct cpio_file file;

    if (!name) {
        gate_close();
        return 0;
    }
    if (!process_able(arch_cpu()->current->proc, ABILITY_DTRACE_KERNEL)) {
        gate_refuse(why, KYMO_GATE_ABILITY);
        return -EPERM;
    }
    if (!boot_file(name, &file)) {
        return -ENOENT;
    }
    kernel_window(); /* the image may have many files */
    int error = gate_create(&file, why);
    return error ? error : gate_place_all(why);
}
