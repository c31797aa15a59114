/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One program on both: loaded into the machine, and the naive interpreter on copies of its memory.
 */
#ifndef TEST_TRACE_DTRACE_RANDOM_PAIR_H
#define TEST_TRACE_DTRACE_RANDOM_PAIR_H

#include "test/trace/dtrace/random/naive.h"
#include "test/trace/dtrace/random/program.h"
#include "trace/dtrace/consumer.h"

enum { PAIR_SCRATCH = 4096, PAIR_MAP = 160 };

struct pair {
    struct program program;
    struct p_image image;
    struct dtrace_refusal refusal;
    struct dtrace_consumer consumer; /* as far as an object needs one */
    struct dtrace_probe *probe;
    struct dtrace_provider provider;
    struct dtrace_ecb ecb;
    struct dtrace_context *context;
    struct naive naive;
    uint32_t strsize;
    size_t scratch_size;
    uint64_t args[5];
    char wrong[200]; /* what differs; "": nothing */
    /* The most basic blocks and bytes for a step that the machine has needed so far. */
    uint64_t most_work, most_steps;
    double dearest;
};
extern struct pair pair;
/* A step is no more than so many. */
enum { PAIR_WORK_STEP = 32 };

void pair_init(void);
void pair_init_on(struct dtrace_probe *); /* what programs see of a probe is this one's */
/* The world of the next program, by chance; its addresses are in pair.program. */
void pair_world(void);
/* Loads pair.program; false: it is refused, and both agree that it is. */
bool pair_load(void);
void pair_unload(void);
void pair_clause(void);
/* Runs an object on both and compares all they did. False: nothing more can be learned from this
 * program (it faulted, or looked at what isn't known), or something differs: see wrong. */
bool pair_run(uint32_t object);

/* The parts of that, for who has a consumer of his own, of which pair.consumer has a copy. */
void pair_copy(struct naive *, uint64_t scratch, size_t scratch_size);
void pair_copy_fake(struct naive *);
void pair_compare_memory(void);
extern uint64_t counted; /* basic blocks and bytes of trace/dtrace */

#endif
