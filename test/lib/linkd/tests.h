/* SPDX-License-Identifier: BSD-2-Clause */
/* The tests of lib/linkd/, a file a topic, and what they share. */
#ifndef TEST_LIB_LINKD_TESTS_H
#define TEST_LIB_LINKD_TESTS_H

#include "test/lib/linkd/world.h"

extern const struct line_faults clean, torn; /* torn: it drops, flips, doubles and inserts */

void fill(uint8_t *bytes, size_t count, unsigned seed);

struct d_request {
    struct kymo_d_call call;
    uint8_t in[3000];
};
/* Creates a consumer and returns its handle. */
uint32_t d_create(struct world *w, int channel, struct d_request *request);
/* Begins a capture; the host has got its name. */
void begin_capture(struct world *w, int client, int channel);

void test_hello(void **state);
void test_sleeps(void **state);
void test_source(void **state);
void test_source_refuses(void **state);
void test_capture(void **state);
void test_capture_client_killed(void **state);
void test_capture_client_forgotten(void **state);
void test_capture_host_gone(void **state);
void test_capture_waits_for_host(void **state);
void test_capture_host_errs(void **state);
void test_capture_refuses(void **state);
void test_dtrace(void **state);
void test_dtrace_owns(void **state);
void test_dtrace_memory(void **state);
void test_dtrace_refuses(void **state);
void test_console(void **state);
void test_console_tick(void **state);
void test_console_refuses(void **state);
void test_program(void **state);
void test_second_request(void **state);
void test_program_find(void **state);
void test_program_closes(void **state);
void test_hosts_follow(void **state);
void test_anything(void **state);

#endif
