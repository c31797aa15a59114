/* SPDX-License-Identifier: BSD-2-Clause */
/* The bound of one object, for dtrace_ecb_cost() and for tests. Control context. */
#ifndef TRACE_DTRACE_COST_H
#define TRACE_DTRACE_COST_H

#include "trace/dtrace/machine.h"

/* Limits that the number of steps depends on, besides the object. */
struct dtrace_cost_limits {
    uint64_t strsize;
    uint64_t scratch; /* most bytes that a clause can take */
    uint64_t element; /* bytes of the largest element of an associative array */
    uint64_t nspec;   /* speculations */
};

/* Returns an upper bound of the object's steps; UINT64_MAX: it isn't valid, or there is no memory
 * to compute the bound. */
uint64_t dtrace_cost_object(const struct dif_object *, const struct dtrace_cost_limits *);

#endif
