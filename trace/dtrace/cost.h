/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside of dtrace_ecb_cost(). Control context.
 */
#ifndef TRACE_DTRACE_COST_H
#define TRACE_DTRACE_COST_H

#include "trace/dtrace/machine.h"

/* What steps depend on beside the object. */
struct dtrace_cost_limits {
    uint64_t strsize;
    uint64_t scratch; /* bytes that a clause can take at most */
    uint64_t element; /* bytes of the largest element of an associative array */
    uint64_t nspec;   /* speculations */
};

/* Steps of an object at most; UINT64_MAX: it isn't valid, or there is no memory to find out. */
uint64_t dtrace_cost_object(const struct dif_object *, const struct dtrace_cost_limits *);
/* Saturates: a sum of bounds is never less than the truth. */
uint64_t dtrace_cost_plus(uint64_t a, uint64_t b);

#endif
