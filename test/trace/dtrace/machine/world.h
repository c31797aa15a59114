/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program in these tests: objects from text, in an image, loaded, with a context to run them in.
 */
#ifndef TEST_TRACE_DTRACE_MACHINE_WORLD_H
#define TEST_TRACE_DTRACE_MACHINE_WORLD_H

#include "test/trace/dtrace/machine/builder.h"
#include "test/trace/dtrace/machine/fake_dynvar.h"
#include "trace/dtrace/ecb.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { WORLD_SCRATCH = 4096 };

struct world {
    struct image_builder image;
    struct dtrace_code code;
    struct dtrace_context context;
    struct dtrace_refusal refusal;
    struct dtrace_probe probe;
    struct dtrace_ecb ecb;
    uint64_t args[5];
    struct dtrace_provider_ops ops;
    struct dtrace_provider provider;
    uint32_t strsize;
    bool loaded;
};
extern struct world world;

/* setup and teardown of a test: strsize 64, scratch of 4096. */
int world_open(void **state);
int world_close(void **state);
void world_strsize(uint32_t strsize);
void world_scratch(size_t size); /* of the next probe firing */
void world_clause(void);         /* begins */
/* Loads these objects (until NULL), which must be valid, in place of those before. */
void world_load(const char *text, ...);
/* Runs one in a new clause, or in the same as before. */
uint64_t world_run(unsigned object);
uint64_t world_go_on(unsigned object);
/* Load and run one object: its value; it must not fault. */
uint64_t run(const char *text);
/* … its string. Stays until the next. */
const char *run_string(const char *text);
#define ANY_ADDRESS 0xa11add4e55ull
/* … which must fault so. */
void run_faults(const char *text, enum dif_fault kind, uint32_t instruction, uint64_t address);

#define assert_fault(kind_, at, address_) \
    do { \
        assert_int_equal(world.context.fault.kind, kind_); \
        assert_int_equal(world.context.fault.offset, 4 * (at)); \
        assert_int_equal(world.context.fault.address, address_); \
    } while (0)

#endif
