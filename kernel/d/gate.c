/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The event log's gate (trace/gate.h) by a D program: a consumer that is made but never put on its
 * probes. An event passes if a clause on its probe has no predicate or one that holds, or fails in
 * a fault: a fault keeps no event from the log. So does one inside of a clause of D's.
 *
 * Opening and closing: kernel lock. Asking: own CPU, interrupts masked.
 */
#include "kernel/cpu.h"
#include "kernel/d/d.h"
#include "kernel/d/gate.h"
#include "kernel/abi/errno.h"
#include "trace/d/consumer.h"
#include "trace/d/port.h"
#include "trace/gate.h"

static struct d_consumer *gate; /* [a] */

static bool holds(const struct d_ecb *e, const uint64_t *words)
{
    struct d_context *x = &gate->cpus[d_port_cpu()].context;

    if (!e->predicate) {
        return true;
    }
    d_context_clause(x, e, words);
    return d_eval(x, e->predicate) || x->fault.kind != DIF_FAULT_NONE;
}

bool trace_port_passes(unsigned site, unsigned number, const uint64_t *words)
{
    bool passes = false;

    if (!gate || arch_cpu()->fired) {
        return true;
    }
    arch_cpu()->fired = words;
    for (uint32_t i = 0; i < gate->necbs && !passes; i++) {
        const struct d_ecb *e = &gate->ecbs[i];
        passes = d_site_is(e->probe, site, number) && holds(e, words);
    }
    arch_cpu()->fired = NULL;
    return passes;
}

int d_gate_open(const void *image, size_t bytes, struct d_refusal *why)
{
    struct d_consumer *c;
    int error = gate ? -EEXIST : d_consumer_create(image, bytes, 0, &c, why);

    if (!error) {
        __atomic_store_n(&gate, c, __ATOMIC_RELEASE);
        trace_gate_arm(true);
    }
    return error;
}

/* Whoever asks does so with interrupts masked: a cross-call finds none under way. */
static void nothing(void *arg)
{
    (void)arg;
}

void d_gate_close(void)
{
    struct d_consumer *c = gate;

    if (c) {
        trace_gate_arm(false);
        __atomic_store_n(&gate, NULL, __ATOMIC_RELEASE);
        trace_port_run_on_all(nothing, NULL);
        d_consumer_destroy(c);
    }
}
