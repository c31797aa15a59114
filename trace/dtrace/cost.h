/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The contents of cost.def as tables: one for each unit in which a bound is computed. A kernel has
 * that of its machine, DTRACE_PORT_WEIGHTS (limit.h); the host's command has all.
 */
#ifndef TRACE_DTRACE_COST_H
#define TRACE_DTRACE_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/dtrace/dif.h"
#include "trace/dtrace/dtrace.h"

enum dtrace_cost_part {
#define DTRACE_COST(name, steps, m4, a64, doc) DTRACE_COST_##name,
#include "trace/dtrace/cost.def"
    DTRACE_COST_PARTS
};

struct dtrace_weights {
    const char *unit;             /* its name in messages */
    uint8_t subr_once, subr_each; /* factors of the subroutines' numbers */
    uint16_t of[DTRACE_COST_PARTS];
    struct {
        uint8_t once, each;
    } subr[DIF_SUBR_MAX + 1];
};
enum { DTRACE_SUBR_ONCE = 16, DTRACE_SUBR_EACH = 4 }; /* in the machines' tables */

/* ---- a sum of parts, which saturates: cost.c ---------------------------------------- */

struct dtrace_cost_sum {
    const struct dtrace_weights *weights;
    dtrace_amount cost;
    bool reads; /* it has a read of a block, which may fault after several attempts */
};
/* Frames of the machine and of interrupts, which unwinding skips. */
enum { DTRACE_FRAMES_OWN = 96 };

/* Return the sum and the product, which saturate. */
static inline dtrace_amount dtrace_amount_sum(dtrace_amount a, dtrace_amount b)
{
    dtrace_amount sum;

    return __builtin_add_overflow(a, b, &sum) ? DTRACE_AMOUNT_MOST : sum;
}

dtrace_amount dtrace_amount_product(dtrace_amount a, dtrace_amount b);
/* Returns the lesser of the two. */
dtrace_amount dtrace_amount_least(uint64_t a, dtrace_amount b);

/* Adds n of this part. */
void dtrace_cost_add(struct dtrace_cost_sum *, enum dtrace_cost_part, dtrace_amount n);
void dtrace_cost_add_one(struct dtrace_cost_sum *, enum dtrace_cost_part);
/* Adds a cost. */
void dtrace_cost_more(struct dtrace_cost_sum *, dtrace_amount cost);
/* Add the cost of reading a string, or a block, of at most this many bytes. */
void dtrace_cost_text(struct dtrace_cost_sum *, dtrace_amount bytes);
void dtrace_cost_block(struct dtrace_cost_sum *, dtrace_amount bytes);

#endif
