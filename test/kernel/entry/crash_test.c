/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Crash reports (kernel/entry/crash.c) and those who wait for the console, on one CPU: the thread
 * that prints takes turns with them, and passes its turn on when it has nothing to print. The test
 * takes the reports' steps itself, as fault.c would, so that it can stop amid them.
 */
#include "test/kernel/world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "abi/sys/neutrino.h"
#include "kernel/arch/elf.h"
#include "kernel/arch/stack.h"
#include "kernel/base/console.h"
#include "kernel/entry/crash.h"
#include "kernel/observe/observe.h"

#define REPORTS CONFIG_CRASH_REPORTS
#define LINE 200u /* bytes of the writer's line, less than console.c's LINE_WHOLE */
#define PRINTED_MOST 8192

/* Whose priority is above: `high` lets the test act while others are READY. */
enum { WRITER = 10, OTHER = 20, CRASHES = 30, CRASHES_WORSE = 31, HIGH = 40 };

static struct thread *writer, *other, *high, *crashed, *worse[REPORTS];
static char printed[PRINTED_MOST];
static unsigned count;
static struct {
    unsigned at; /* characters after which it wakes; 0: never */
    struct thread *t;
} wakes[3];

/* ---- what crash.c needs besides ------------------------------------------------------------ */

void arch_context_init_kernel(struct thread *t)
{
    t->ctx.returned = false;
}

uintptr_t arch_context_registers(const struct thread *t, uintptr_t *registers)
{
    (void)t;
    (void)registers;
    return 0;
}

bool arch_user_frame(const struct thread *t, struct unwind_frame *f)
{
    (void)t;
    *f = (struct unwind_frame){0};
    return true;
}

bool arch_backtrace_lost(const struct thread *t, unsigned *at, uintptr_t *to, unsigned *n,
                         unsigned max)
{
    (void)t;
    (void)at;
    (void)to;
    (void)n;
    (void)max;
    return false;
}

bool unwind_user_next(const struct thread *t, struct unwind_frame *f)
{
    (void)t;
    (void)f;
    return false;
}

void kernel_register_text(char *text, size_t bytes, unsigned i, uintptr_t value)
{
    snprintf(text, bytes, "r%u %lx", i, (unsigned long)value);
}

void ktext(char *text, size_t bytes, const char *fmt, va_list args)
{
    vsnprintf(text, bytes, fmt, args);
}

uint16_t arch_elf_machine(void)
{
    return 0;
}

uint8_t arch_elf_class(void)
{
    return 2;
}

bool arch_elf_relocates(void)
{
    return false;
}

/* ---- the console ---------------------------------------------------------------------------- */

static void put(char c)
{
    assert_true(count < sizeof(printed) - 1);
    printed[count++] = c;
    for (unsigned i = 0; i < sizeof(wakes) / sizeof(wakes[0]); i++) {
        if (wakes[i].at == count) {
            thread_wake(wakes[i].t, 0, 0);
        }
    }
}

/* Returns where this text was printed first, or PRINTED_MOST: not at all. */
static unsigned place(const char *text)
{
    const char *found = strstr(printed, text);

    return found ? (unsigned)(found - printed) : PRINTED_MOST;
}

static unsigned place_of_report(const struct thread *t)
{
    char text[64];

    snprintf(text, sizeof(text), "Process %d (test) terminated: SIGSEGV, read from 0x%x, thread %d",
             t->proc->pid, (unsigned)t->tid, t->tid);
    return place(text);
}

static void sleep_on(struct thread *t)
{
    assert_int_equal(CALL(t, INTERRUPT_WAIT, 0, 0), BLOCKED);
}

/* Begins to write a line of n equal characters; or its result. */
static long write_line(struct thread *t, char c, size_t n)
{
    char *text = world_at(t, AT(0));

    memset(text, c, n - 1);
    text[n - 1] = '\n';
    return CALL(t, CONSOLE_WRITE, AT(0), n);
}

/* ---- crashes -------------------------------------------------------------------------------- */

static void take(void *thread)
{
    struct thread *t = thread;
    const struct arch_fault fault = {
        .signo = KYMO_SIGSEGV, .address = (uintptr_t)t->tid, .what = "read from"};

    (void)crash_take(t, &fault);
}

static void take_frames(void *t)
{
    while (crash_take_frames(t)) {
    }
}

/* A report begins, and stays amid its steps. */
static void crash_begins(struct thread *t)
{
    world_do(0, take, t);
    world_settle();
}

/* The report of a thread that crash_begins() was called for can be printed. */
static void crash_ends(struct thread *t)
{
    world_do(0, take_frames, t);
    world_settle();
}

static void wake(void *t)
{
    thread_wake(t, 0, 0);
}

static void wake_now(struct thread *t)
{
    world_do(0, wake, t);
    world_settle();
    assert_int_equal(t->state, STATE_RUNNING);
}

static struct thread *sleeper(struct thread *of, int priority)
{
    struct thread *t = of ? world_thread(of, priority) : world_process(0, priority, DATA);

    sleep_on(t);
    return t;
}

static int setup(void **state)
{
    (void)state;
    fake_putc = put;
    count = 0;
    memset(printed, 0, sizeof(printed));
    memset(wakes, 0, sizeof(wakes));
    writer = world_process(0, WRITER, DATA);
    other = sleeper(NULL, OTHER);
    high = sleeper(NULL, HIGH);
    crashed = sleeper(NULL, CRASHES);
    for (unsigned i = 0; i < REPORTS; i++) {
        worse[i] = sleeper(crashed, CRASHES_WORSE);
    }
    return 0;
}

static int teardown(void **state)
{
    fake_putc = NULL;
    return world_teardown(state);
}

/* ---- tests ---------------------------------------------------------------------------------- */

/* The writer is amid its line. After it waits `other`; then the thread that prints goes before
 * `other`, having all the reports there can be, and `high` is to run at a later character. */
static void all_wait_for_the_writer(void)
{
    wakes[0].at = 50, wakes[0].t = other;
    wakes[1].at = 100, wakes[1].t = high;
    wakes[2].at = 150, wakes[2].t = high;
    (void)write_line(writer, 'A', LINE);
    assert_int_equal(other->state, STATE_RUNNING);
    assert_int_equal(write_line(other, 'B', 8), BLOCKED);
    assert_int_equal(other->state, STATE_WAITCTX);
    assert_int_equal(high->state, STATE_RUNNING);
    for (unsigned i = 0; i < REPORTS; i++) {
        crash_begins(crashed);
        crash_ends(crashed);
    }
    (void)CALL(high, INTERRUPT_WAIT, 0, 0); /* the one that prints asks, and the writer goes on */
    assert_int_equal(high->state, STATE_RUNNING);
    assert_int_equal(place("Process"), PRINTED_MOST);
    assert_int_equal(place("B"), PRINTED_MOST);
}

/* The one that prints gets the console first, then `other`. */
static void test_turns(void **state)
{
    (void)state;
    all_wait_for_the_writer();
    sleep_on(high);
    assert_int_equal(world_result(writer), LINE);
    assert_true(place_of_report(crashed) < place("B"));
    assert_true(place("B") < PRINTED_MOST);
    assert_int_equal(world_result(other), 8);
}

/* Meanwhile all of its reports were displaced by some that are still being taken: `other` gets the
 * console at once, not when one of those is complete. */
static void test_nothing_to_print(void **state)
{
    char text[64];

    (void)state;
    all_wait_for_the_writer();
    for (unsigned i = 0; i < REPORTS; i++) {
        crash_begins(worse[i]);
    }
    sleep_on(high);
    assert_int_equal(world_result(writer), LINE);
    assert_int_equal(place("Process"), PRINTED_MOST);
    assert_int_equal(world_result(other), 8);
    assert_true(place("BBBBBBB\r\n") < PRINTED_MOST);
    for (unsigned i = 0; i < REPORTS; i++) {
        assert_int_equal(place_of_report(worse[i]), PRINTED_MOST);
        crash_ends(worse[i]);
        assert_true(place_of_report(worse[i]) < PRINTED_MOST);
    }
    assert_int_equal(place_of_report(crashed), PRINTED_MOST);
    snprintf(text, sizeof(text), "\n%u more crash reports were left out\r\n", (unsigned)REPORTS);
    assert_true(place(text) < PRINTED_MOST);
}

/* A thread of the reports' priority that is READY meanwhile goes between two of them. */
static void test_between_reports(void **state)
{
    struct thread *equal = sleeper(crashed, CRASHES_WORSE);

    (void)state;
    _Static_assert(REPORTS >= 2, "the second one waits for the first");
    wakes[0].at = 5, wakes[0].t = equal;
    wake_now(high);
    crash_begins(crashed);
    crash_ends(crashed);
    crash_begins(worse[0]);
    crash_ends(worse[0]);
    sleep_on(high);
    assert_int_equal(equal->state, STATE_RUNNING);
    assert_int_equal(place_of_report(worse[0]), PRINTED_MOST);
    assert_int_equal(write_line(equal, 'B', 8), 8);
    sleep_on(equal);
    assert_true(place_of_report(crashed) < place("B"));
    assert_true(place("B") < place_of_report(worse[0]));
    assert_true(place_of_report(worse[0]) < PRINTED_MOST);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)
    const struct CMUnitTest tests[] = {TEST(turns), TEST(nothing_to_print), TEST(between_reports)};

    world_boot_one();
    crash_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
