/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What cost.def says, as tables: one for each unit in which a bound is computed. A kernel has that
 * of its machine, DTRACE_PORT_WEIGHTS (limit.h); the host's command has all.
 */
#ifndef TRACE_DTRACE_COST_H
#define TRACE_DTRACE_COST_H

#include <stdint.h>

#include "trace/dtrace/dif.h"

enum dtrace_cost_part {
#define DTRACE_COST(name, steps, m4, a64, doc) DTRACE_COST_##name,
#include "trace/dtrace/cost.def"
    DTRACE_COST_PARTS
};

struct dtrace_weights {
    const char *unit;            /* as messages name it */
    uint8_t subr_once, subr_each; /* what the subroutines' numbers are multiplied by */
    uint16_t of[DTRACE_COST_PARTS];
    struct {
        uint8_t once, each;
    } subr[DIF_SUBR_MAX + 1];
};
enum { DTRACE_SUBR_ONCE = 16, DTRACE_SUBR_EACH = 4 }; /* of the machines' tables */

extern const struct dtrace_weights dtrace_weights_steps; /* cost.c */
extern const struct dtrace_weights dtrace_weights_m4;    /* cost/m4.c */
extern const struct dtrace_weights dtrace_weights_a64;   /* cost/a64.c */

#endif
