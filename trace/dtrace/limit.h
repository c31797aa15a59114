/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dtrace_max_cost: a program is refused if its clauses, together with those of the existing
 * consumers, could make a firing of one probe cost more, in the unit of DTRACE_PORT_WEIGHTS. With
 * log=1 a program is also refused if its records could never be logged. Control context. Tested by
 * test/trace/dtrace/fire/limit_test.c and log_test.c.
 */
#ifndef TRACE_DTRACE_LIMIT_H
#define TRACE_DTRACE_LIMIT_H

#include "trace/dtrace/consumer.h"
#include "trace/dtrace/cost.h"

/* The build names the table of its machine, if there is one. */
#ifndef DTRACE_PORT_WEIGHTS
#define DTRACE_PORT_WEIGHTS dtrace_weights_steps
#endif

/* A refusal's text under construction: text that doesn't fit is left out. */
struct dtrace_line {
    char *at;
    const char *end; /* of the room, without the NUL */
};

struct dtrace_line dtrace_line_begin(struct dtrace_refusal *);
void dtrace_line_add(struct dtrace_line *, const char *text);
void dtrace_line_number(struct dtrace_line *, dtrace_amount);

struct dtrace_limit {
    const struct dtrace_consumer *consumer;
    const struct dtrace_image *image;
    struct dtrace_bounding by;
    struct dtrace_block sums; /* of clauses, by probe id - 1; NULL: no limit is set */
};

/* Begins to sum up costs. Returns 0 or -ENOMEM. */
int dtrace_limit_begin(struct dtrace_limit *, const struct dtrace_consumer *,
                       const struct dtrace_image *, struct dtrace_refusal *);
/* Adds the ECBs from..to-1 of the consumer, which were created from this clause of the image.
 * Returns 0 or -E2BIG; the refusal's text names clause, probe, bound and limit. */
int dtrace_limit_add(struct dtrace_limit *, uint32_t clause, uint32_t from, uint32_t to,
                     struct dtrace_refusal *);
void dtrace_limit_end(struct dtrace_limit *);
/* Checks an ECB of a consumer that logs: returns 0 if its record, and the entries of its
 * aggregations, fit an event of the log; otherwise -E2BIG, with clause and sizes in the refusal's
 * text. */
int dtrace_limit_logged(const struct dtrace_ecb *, struct dtrace_refusal *);

#endif
