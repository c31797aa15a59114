/* SPDX-License-Identifier: BSD-2-Clause */
/* The machine's assertions: a breach of each kind is caught. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "test/tool/failed.h"
#include "trace/dtrace/consumer.h"
#include "trace/dtrace/control_answer.h"
#include "trace/dtrace/subr.h"

static uint8_t memory[64];
static struct dtrace_context context = {.scratch = memory};

static void commit_outside_of_the_buffer(void)
{
    struct dtrace_buffer b = {.active = memory, .size = 16};

    dtrace_buffer_commit(&b, memory + 8, 16);
}

static void probe_that_does_not_exist(void)
{
    dtrace_probe_at(dtrace_probe_count + 1);
}

static void argument_that_was_not_pushed(void)
{
    context.nkeys = 1;
    dtrace_arg(&context, 1);
}

static void chunk_outside_of_the_table(void)
{
    const struct dtrace_dynvars v = {.nchunks = 2};

    dtrace_chunk_at(&v, 3);
}

static void store_of_nothing(void)
{
    dtrace_storable_scratch(&context, (uintptr_t)memory, 0);
}

static void object_outside_of_the_image(void)
{
    static const struct dtrace_image image;
    struct dif_object o;

    dtrace_image_object_at(&image, 0, &o);
}

static void answer_without_room(void)
{
    struct kymo_d_call call = {0};
    struct dtrace_control_request r = {.call = &call, .out = memory, .room = 8};

    dtrace_answer_put(&r, 4, "12345678", 8);
}

static void test_breaches(void **state)
{
    static const struct {
        void (*step)(void);
        const char *where;
    } breaches[] = {
        {commit_outside_of_the_buffer, "trace/dtrace/buffer.h"},
        {probe_that_does_not_exist, "trace/dtrace/probe.h"},
        {argument_that_was_not_pushed, "trace/dtrace/subr.h"},
        {chunk_outside_of_the_table, "trace/dtrace/dynvar.h"},
        {store_of_nothing, "trace/dtrace/store.c"},
        {object_outside_of_the_image, "trace/dtrace/image.c"},
        {answer_without_room, "trace/dtrace/control_answer.c"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(breaches) / sizeof(breaches[0]); i++) {
        assert_true(failed_in(breaches[i].step));
        assert_non_null(strstr(failed_text, breaches[i].where));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_breaches)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
