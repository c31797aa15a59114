/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The counters of the CPU's events that a program's variables need, `cycles` and `instructions`:
 * allocated from the port when the program is created, freed when it ends. Only for ports that have
 * some (DTRACE_PORT_COUNTS). Control context. Tested by test/trace/dtrace/machine/builtin_test.c
 * and test/board/counters.py.
 */
#include "trace/dtrace/consumer.h"

#include "trace/dtrace/dif.h"
#include "trace/dtrace/port.h"
#include "trace/dtrace/run.h"

static enum dtrace_reason counter_begin(struct dtrace_consumer *c, unsigned which)
{
    if (c->counters >> which & 1) {
        return DTRACE_REASON_NONE;
    }
    int error = DTRACE_PORT_COUNTS ? dtrace_port_counters(which, true) : -DTRACE_EBUSY;
    if (error) {
        return error == -DTRACE_EBUSY        ? DTRACE_REASON_COUNTERS_USED
               : error == -DTRACE_ENOMEM     ? DTRACE_REASON_NO_SPACE
               : which == DTRACE_PORT_CYCLES ? DTRACE_REASON_NO_CYCLES
                                             : DTRACE_REASON_NO_INSTRUCTIONS;
    }
    c->counters |= (uint8_t)(1u << which);
    return DTRACE_REASON_NONE;
}

int dtrace_counters_begin(struct dtrace_consumer *c, struct dtrace_refusal *why)
{
    enum dtrace_reason reason = DTRACE_REASON_NONE;

    for (uint32_t n = 0; n < c->code.nobjects && !reason; n++) {
        const struct dtrace_object *o = &c->code.objects[n];
        for (uint32_t i = 0; i < o->ntext && !reason; i++) {
            unsigned which = o->text[i].index - DIF_VAR_cycles;
            bool loads = o->text[i].op == DIF_OP_ldgs || o->text[i].op == DTRACE_RUN_ldgs_own;
            if (loads && which < DTRACE_PORT_COUNTERS) {
                reason = counter_begin(c, which);
            }
        }
    }
    return reason ? dtrace_refuse(why, reason) : 0;
}

void dtrace_counters_end(struct dtrace_consumer *c)
{
    for (unsigned which = 0; which < DTRACE_PORT_COUNTERS; which++) {
        if (DTRACE_PORT_COUNTS && c->counters >> which & 1) {
            dtrace_port_counters(which, false);
        }
    }
    c->counters = 0;
}
