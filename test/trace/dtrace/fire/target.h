/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A machine with a provider of a few probes, and one consumer, for the tests of what happens when
 * they fire. A test builds an image in `b`, starts it, fires, and looks at what was recorded.
 */
#ifndef TEST_TRACE_DTRACE_FIRE_TARGET_H
#define TEST_TRACE_DTRACE_FIRE_TARGET_H

#include "test/trace/dtrace/machine/builder.h"
#include "test/trace/dtrace/machine/fake.h"
#include "trace/dtrace/dtrace.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { RECORDS = 64, BEGIN_ = 1, END_ = 2, ERROR_ = 3, PROBES = 4 };

/* A record, found by walking a snapped buffer. */
struct record {
    uint32_t epid;
    uint64_t time;
    uint32_t size;       /* of the whole */
    const uint8_t *data; /* its beginning: offsets of record descriptions count from here */
};

struct target {
    struct image_builder b;
    uint32_t probe[PROBES]; /* of the provider `test`: test:m:f:p0 … */
    struct dtrace_consumer *consumer;
    struct dtrace_refusal refusal;
    uint8_t buffer[1 << 16];
    struct dtrace_snap snap;
    struct record records[RECORDS];
    unsigned nrecords;
};
extern struct target target;

/* What an owner has paid for, as the calls of trace/dtrace/control.h had it. */
struct target_account {
    unsigned consumers;
    size_t bytes;
};
struct target_account *target_account(const void *owner);

int target_open(void **state);
int target_close(void **state);
/* An ECB on this probe. predicate: its text; NULL: none. */
struct dtrace_image_ecb *clause(uint32_t probe, const char *predicate);
/* An action of the clause before, whose object is this text; NULL: none. */
struct dtrace_image_action *action(uint16_t kind, const char *text);
/* bufsize and aggsize are 4096 if the test gave none. */
void start(void);
void fire(unsigned probe, uint64_t arg0);
/* Takes what CPU `cpu` has; the records are in target. */
void take(unsigned cpu);
uint64_t datum(unsigned record, unsigned recdesc); /* by value */
const char *datum_text(unsigned record, unsigned recdesc);
/* An ECB on ERROR that records what it is told; and what it recorded. */
void error_clause(void);
void expect_error(unsigned record, const uint64_t want[5]);
struct dtrace_status status(void);
/* The value words of the aggregation `id` with this key (NULL: none), on this CPU, which is taken;
 * NULL: there is no such entry. */
const uint64_t *aggregated(unsigned cpu, uint32_t id, const void *key, size_t key_size);

#endif
