/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ConsoleWrite() (kernel/entry/console.c) of several threads on one CPU: a line is one piece up to
 * its limit, however many threads ask for the console meanwhile.
 */
#include "test/kernel/world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/thread/thread.h"

#define LINE_WHOLE 256u /* as in console.c */
#define LONG 1000u
#define CALLERS 2u

static struct thread *writer, *callers[CALLERS];
static char printed[4 * LONG];
static unsigned count;
static unsigned wake_at[CALLERS]; /* characters after which callers[i] wakes; 0: never */

static void put(char c)
{
    assert_true(count < sizeof(printed));
    printed[count++] = c;
    for (unsigned i = 0; i < CALLERS; i++) {
        if (wake_at[i] == count) {
            thread_wake(callers[i], 0, 0);
        }
    }
}

static void text_set(struct thread *t, char c, size_t n, bool ends)
{
    memset(world_at(t, AT(0)), c, n);
    if (ends) {
        *(char *)world_at(t, AT(0) + n - 1) = '\n';
    }
}

static int setup(void **state)
{
    (void)state;
    fake_putc = put;
    count = 0;
    writer = world_process(0, 10, DATA);
    for (unsigned i = 0; i < CALLERS; i++) {
        wake_at[i] = 0;
        callers[i] = world_process(0, 20 + (int)i, DATA);
        assert_int_equal(CALL(callers[i], INTERRUPT_WAIT, 0, 0), BLOCKED);
        text_set(callers[i], (char)('B' + (char)i), 8, false);
    }
    return 0;
}

static int teardown(void **state)
{
    fake_putc = NULL;
    return world_teardown(state);
}

static void write_some(struct thread *t, size_t n)
{
    (void)CALL(t, CONSOLE_WRITE, AT(0), n);
}

/* Returns how many of c there are from `from` on, one after the other. */
static unsigned length(unsigned from, char c)
{
    unsigned n = 0;

    while (from + n < count && printed[from + n] == c) {
        n++;
    }
    return n;
}

/* Each caller comes when the writer, without a newline, is amid its piece. */
static void test_no_newline(void **state)
{
    (void)state;
    text_set(writer, 'A', LONG, false);
    wake_at[0] = 100;
    wake_at[1] = 224;
    write_some(writer, LONG);
    assert_int_equal(callers[0]->state, STATE_RUNNING);
    write_some(callers[0], 8);
    assert_int_equal(callers[1]->state, STATE_RUNNING);
    write_some(callers[1], 8);
    assert_int_equal(length(0, 'A'), LINE_WHOLE);
    assert_int_equal(length(LINE_WHOLE, 'C'), 8);
    assert_int_equal(CALL(callers[1], INTERRUPT_WAIT, 0, 0), BLOCKED);
    assert_int_equal(length(LINE_WHOLE + 8, 'B'), 8);
    assert_int_equal(CALL(callers[0], INTERRUPT_WAIT, 0, 0), BLOCKED);
    assert_int_equal(world_result(writer), LONG);
    assert_int_equal(length(LINE_WHOLE + 16, 'A'), LONG - LINE_WHOLE);
    assert_int_equal(count, LONG + 16);
}

/* A line that fits ends before anybody else's text. */
static void test_line(void **state)
{
    (void)state;
    text_set(writer, 'A', LINE_WHOLE - 6, true);
    wake_at[0] = 100;
    write_some(writer, LINE_WHOLE - 6);
    assert_int_equal(callers[0]->state, STATE_RUNNING);
    write_some(callers[0], 8);
    assert_int_equal(length(0, 'A'), LINE_WHOLE - 7);
    assert_memory_equal(printed + LINE_WHOLE - 7, "\r\n", 2);
    assert_int_equal(length(LINE_WHOLE - 5, 'B'), 8);
    assert_int_equal(CALL(callers[0], INTERRUPT_WAIT, 0, 0), BLOCKED);
    assert_int_equal(world_result(writer), LINE_WHOLE - 6);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)
    const struct CMUnitTest tests[] = {TEST(no_newline), TEST(line)};

    world_boot_one();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
