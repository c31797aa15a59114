/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probes, which live for ever, and their memory: without memory for a probe none is taken for its
 * names, however often it is tried; and no consumer pays for what stays when it has ended.
 */
#define _GNU_SOURCE /* memmem() */
#include "test/trace/dtrace/fire/target.h"
#include "trace/dtrace/consumer.h"
#include "trace/dtrace/control.h"
#include "trace/dtrace/probe.h"

#include <stdio.h>
#include <string.h>

enum { TRIES = 50 };

static void provide(const char *module, const char *function, const char *name);

static const struct dtrace_provider_ops ops = {.provide = provide};
static const struct dtrace_provider provider = {"room", &ops};

static void provide(const char *module, const char *function, const char *name)
{
    dtrace_probe_create(&provider, module, function, name, NULL);
}

static uint32_t make(unsigned n)
{
    char name[40];

    snprintf(name, sizeof(name), "a-probe-with-a-long-name-%u", n);
    return dtrace_probe_create(&provider, "module", "function", name, NULL);
}

/* The next probe needs another chunk of the table. */
static void fill_the_chunk(void)
{
    static unsigned n = 1000;

    while (dtrace_probe_count % DTRACE_PROBE_CHUNK) {
        assert_int_not_equal(make(n++), 0);
    }
}

static void test_names_without_a_probe(void **state)
{
    (void)state;
    fill_the_chunk();
    size_t before = fake.allocated;
    uint32_t probes = dtrace_probe_count;

    fake.alloc_limit = before + sizeof(struct dtrace_probe) * DTRACE_PROBE_CHUNK - 1;
    for (unsigned i = 0; i < TRIES; i++) {
        assert_int_equal(make(i), 0);
        dtrace_probe_provide("room", "m", "f", "on demand");
    }
    assert_int_equal(fake.allocated, before);
    assert_int_equal(dtrace_probe_count, probes);
    fake.alloc_limit = 0;
    for (unsigned i = 0; i < TRIES; i++) {
        assert_int_equal(make(i), probes + i + 1);
    }
}

/* Where this text, a string constant, is among those of the program. */
static uint32_t string_at(const struct dtrace_image *image, const char *text)
{
    const char *strings = (const char *)image + image->strings.offset;
    const char *at = memmem(strings, image->strings.count, text, strlen(text) + 1);

    assert_non_null(at);
    return (uint32_t)(at - strings);
}

/* A consumer whose description makes a probe, and the consumer's end. */
static void test_nobody_pays_for_probes(void **state)
{
    static const char *const owner = "owner";
    static _Alignas(8) uint8_t out[1024];
    struct kymo_d_call call = {.command = KYMO_D_CREATE, .out_bytes = sizeof(out)};
    uint32_t probes = dtrace_probe_count;

    (void)state;
    clause(0, NULL);
    action(DTRACE_ACT_DIFEXPR, "result string; sets \"room\" r1; ret r1");
    action(DTRACE_ACT_DIFEXPR, "result string; sets \"paid by nobody\" r1; ret r1");
    image_option(&target.b, DTRACE_OPT_BUFSIZE, 4096);
    image_option(&target.b, DTRACE_OPT_DYNVARSIZE, 4096);
    struct dtrace_image *image = image_end(&target.b);
    struct dtrace_image_ecb *e = (void *)((char *)image + image->ecbs.offset);
    e->provider = string_at(image, "room");
    e->name = string_at(image, "paid by nobody");
    size_t before = fake.allocated, forever = fake.forever;
    call.in_bytes = image->size;
    assert_int_equal(dtrace_control(owner, DTRACE_MAY_ALL, &call, image, out), 0);
    assert_int_equal(dtrace_probe_count, probes + 1);
    forever = fake.forever - forever;
    assert_true(forever > 0);
    assert_int_equal(target_account(owner)->bytes, fake.allocated - before - forever);
    dtrace_control_end(owner);
    assert_int_equal(target_account(owner)->bytes, 0);
    assert_int_equal(fake.allocated - before, forever);
}

static int open_with_provider(void **state)
{
    static bool registered;
    int error = target_open(state);

    if (!registered) {
        dtrace_provider_register(&provider);
    }
    registered = true;
    return error;
}

/* ---- long chains --------------------------------------------------------------------- */

enum { LONG = 1000, STEP = 128 };

static unsigned windows;

static void window(void)
{
    windows++;
}

/* However many clauses a probe has, a window is never more than STEP of them away; they stay in
 * order, and the first one of each consumer knows that it is. */
static void test_long_chain(void **state)
{
    static struct dtrace_ecb ecbs[LONG];
    static char consumers[2];
    struct dtrace_probe *p = dtrace_probe_at(make(7777));
    unsigned n = 0;

    (void)state;
    dtrace_window_hook = window;
    for (unsigned i = 0; i < LONG; i++) {
        ecbs[i].consumer = (void *)&consumers[i % 2];
        windows = 0;
        assert_int_equal(dtrace_probe_enable(p, &ecbs[i]), 0);
        assert_int_equal(windows, i / STEP);
        assert_int_equal(ecbs[i].states != 0, i < 2);
    }
    for (struct dtrace_ecb *e = p->ecbs; e; e = e->next) {
        assert_ptr_equal(e, &ecbs[n++]);
    }
    assert_int_equal(n, LONG);
    while (n > 0) {
        windows = 0;
        dtrace_probe_disable(p, &ecbs[--n]);
        assert_int_equal(windows, n / STEP);
    }
    assert_null(p->ecbs);
    dtrace_window_hook = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_names_without_a_probe, open_with_provider,
                                        target_close),
        cmocka_unit_test_setup_teardown(test_nobody_pays_for_probes, open_with_provider,
                                        target_close),
        cmocka_unit_test_setup_teardown(test_long_chain, open_with_provider, target_close),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
