/* SPDX-License-Identifier: BSD-2-Clause */
/* Internal to dtrace_control(): a request in progress, and the answers in control_answer.c. */
#ifndef TRACE_DTRACE_CONTROL_ANSWER_H
#define TRACE_DTRACE_CONTROL_ANSWER_H

#include "trace/dtrace/consumer.h"
#include "trace/dtrace/control.h"
#include "trace/dtrace/log.h"

struct dtrace_control_program {
    const void *image;
    uint32_t bytes;
};

/* checked: fields that its command doesn't use are 0, out has at least the least room */
struct dtrace_control_request {
    const void *owner;
    uint32_t rights; /* enum dtrace_rights */
    struct kymo_d_call *call;
    const void *in;
    uint8_t *out;
    uint32_t room;  /* bytes available at out */
    uint32_t state; /* of the consumer, if the command has one: enum dtrace_state */
    struct dtrace_control_entry *entry; /* its table entry, likewise */
};

/* A description of an EPID or aggregation, then 4 bytes, then its struct dtrace_recdesc. */
enum { DTRACE_CONTROL_DESC_BYTES = 24 };

/* Writes bytes at offset `at` of the answer and sets the answer's end after them. The caller has
 * checked the room. */
void dtrace_answer_put(struct dtrace_control_request *, uint32_t at, const void *from,
                       uint32_t bytes);

int dtrace_answer_info(struct dtrace_control_request *);
int dtrace_answer_probes(struct dtrace_control_request *);
int dtrace_answer_provide(struct dtrace_control_request *);
int dtrace_answer_sizes(struct dtrace_control_request *);
int dtrace_answer_go(struct dtrace_control_request *);
int dtrace_answer_stop(struct dtrace_control_request *);
int dtrace_answer_over(struct dtrace_control_request *);
int dtrace_answer_status(struct dtrace_control_request *);
int dtrace_answer_buffer(struct dtrace_control_request *);
int dtrace_answer_aggregation(struct dtrace_control_request *);
int dtrace_answer_epid(struct dtrace_control_request *);
int dtrace_answer_agg(struct dtrace_control_request *);
int dtrace_answer_process(struct dtrace_control_request *);
int dtrace_answer_resume(struct dtrace_control_request *);
int dtrace_answer_notes(struct dtrace_control_request *);
/* The first writes the notes of the boot's consumer, for its retained memory (control_boot.c). */
int dtrace_control_describe(struct dtrace_control_entry *, const struct dtrace_control_program *);
int dtrace_answer_pass(struct dtrace_control_request *);

#endif
