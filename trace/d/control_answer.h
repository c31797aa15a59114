/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside of d_control(): a request under way, and what control_answer.c answers.
 */
#ifndef TRACE_D_CONTROL_ANSWER_H
#define TRACE_D_CONTROL_ANSWER_H

#include "trace/d/consumer.h"
#include "trace/d/control.h"
#include "trace/d/image_check.h"
#include "trace/d/log.h"

struct d_control_place {         /* of one consumer */
    struct d_consumer *consumer; /* [k] NULL: the place is free */
    const void *owner;           /* [k] */
    uint32_t handle;             /* [k] */
};

struct d_control_program {
    const void *image;
    uint32_t bytes;
};

struct d_control_request { /* checked: what its command does not use is 0, out has the least room */
    const void *owner;
    struct kymo_d_call *call;
    const void *in;
    uint8_t *out;
    uint32_t room;                 /* bytes at out */
    uint32_t state;                /* of the consumer, if the command has one: enum d_state */
    struct d_control_place *place; /* likewise */
};

/* A description of an EPID or aggregation, then 4 bytes, then its struct d_recdesc. */
enum { D_CONTROL_DESC_BYTES = 24 };

/* Puts bytes at `at` of the answer, which then ends behind them. The caller knows that there is
 * room. */
void d_control_put(struct d_control_request *, uint32_t at, const void *from, uint32_t bytes);

int d_control_tell(struct d_control_request *);
int d_control_probes(struct d_control_request *);
int d_control_provide(struct d_control_request *);
int d_control_sizes(struct d_control_request *);
int d_control_go(struct d_control_request *);
int d_control_stop(struct d_control_request *);
int d_control_over(struct d_control_request *);
int d_control_status(struct d_control_request *);
int d_control_buffer(struct d_control_request *);
int d_control_aggregation(struct d_control_request *);
int d_control_epid(struct d_control_request *);
int d_control_agg(struct d_control_request *);
int d_control_whois(struct d_control_request *);
int d_control_wake(struct d_control_request *);
int d_control_notes(struct d_control_request *);
/* control_boot.c: what describes the boot's consumer, for its retained memory. */
int d_control_describe(struct d_control_place *, const struct d_control_program *);
int d_control_pass(struct d_control_request *);

#endif
