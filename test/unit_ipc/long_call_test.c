/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Long calls (kernel/thread/long_call.c) on one CPU, with DTRACE as the call: left at a window for
 * a thread of higher priority and continued; a second caller, whose priority the first one
 * inherits; threads that end or are held meanwhile.
 */
#include "test/unit_ipc/world.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "kernel/base/cpu.h"
#include "kernel/base/window.h"

#define LEFT 5 /* steps after which a thread of higher priority wakes */
#define STEPS 10

static struct thread *low, *middle, *high; /* of three processes */
static unsigned steps, inside, most_inside;
static struct thread *woken; /* by step LEFT; NULL: nobody */

/* Counts steps; another one of it must not begin before it is over. */
static long part(struct thread *self, const uintptr_t *args)
{
    (void)self;
    inside++;
    most_inside = inside > most_inside ? inside : most_inside;
    for (unsigned i = 1; i <= STEPS; i++) {
        steps++;
        if (i == LEFT && woken) {
            thread_wake(woken, 0, 0);
            woken = NULL;
        }
        kernel_window();
    }
    inside--;
    return 1000 + (long)args[0];
}

static int setup(void **state)
{
    (void)state;
    struct thread **all[] = {&low, &middle, &high};

    for (unsigned i = 0; i < 3; i++) {
        *all[i] = world_process(0, 10 + 10 * (int)i, DATA);
        CALL(*all[i], PROC_WAIT, 0, 0, 0); /* ECHILD; the thread has run once */
    }
    steps = inside = most_inside = 0;
    woken = NULL;
    fake_long_call = part;
    return 0;
}

static void sleeps(struct thread *t)
{
    assert_int_equal(CALL(t, INTERRUPT_WAIT, 0, 0), BLOCKED);
}

/* low's call is left after LEFT steps, because `by` runs. */
static void leave(struct thread *by)
{
    struct thread *above[] = {high, middle};

    for (unsigned i = 0; i < 2; i++) {
        sleeps(above[i]);
    }
    woken = by;
    assert_int_equal(CALL(low, DTRACE, 7), BLOCKED);
    assert_int_equal(steps, LEFT);
    assert_int_equal(by->state, STATE_RUNNING);
    assert_int_equal(low->state, STATE_READY);
    assert_true(long_call_pending());
}

static void test_alone(void **state)
{
    (void)state;
    sleeps(high);
    sleeps(middle);
    assert_int_equal(CALL(low, DTRACE, 5), 1005);
    assert_int_equal(steps, STEPS);
    assert_false(long_call_pending());
}

static void test_left(void **state)
{
    (void)state;
    leave(high);
    sleeps(high);
    assert_int_equal(world_result(low), 1007);
    assert_int_equal(steps, STEPS);
    assert_false(long_call_pending());
}

/* The second caller waits, and its priority goes to the first. */
static void test_second(void **state)
{
    (void)state;
    leave(high);
    assert_int_equal(CALL(high, DTRACE, 1), 1001);
    assert_int_equal(most_inside, 1);
    assert_int_equal(steps, 2 * STEPS);
    assert_int_equal(low->priority, 10);
    sleeps(high);
    assert_int_equal(world_result(low), 1007);
}

/* It runs before a thread whose priority is between the two. */
static void test_inherited(void **state)
{
    (void)state;
    leave(middle);
    struct thread *third = world_process(0, 30, DATA);
    assert_int_equal(third->state, STATE_RUNNING);
    assert_int_equal(CALL(third, DTRACE, 2), 1002);
    assert_int_equal(middle->state, STATE_READY);
    assert_int_equal(low->priority, 10);
}

/* It finishes its call first, in steps, at the priority of who waits for it. */
static void test_owner_ends(void **state)
{
    (void)state;
    leave(high);
    int pid = low->proc->pid;
    world_kill(low->proc);
    assert_int_equal(steps, LEFT);
    assert_true(long_call_pending());
    assert_int_equal(CALL(high, DTRACE, 3), 1003);
    assert_int_equal(most_inside, 1);
    assert_int_equal(steps, 2 * STEPS);
    assert_false(long_call_pending());
    sleeps(high);
    assert_null(process_find(pid));
    assert_null(process_any(pid));
}

static void finish(void *unused)
{
    (void)unused;
    long_call_finish();
}

static void test_finished(void **state)
{
    (void)state;
    leave(high);
    world_do(0, finish, NULL);
    assert_int_equal(steps, STEPS);
    assert_int_equal(CALL(high, DTRACE, 3), 1003);
    sleeps(high);
    assert_int_equal(world_result(low), 1007);
    assert_int_equal(steps, 2 * STEPS);
}

static void test_held(void **state)
{
    (void)state;
    leave(high);
    struct thread *other = world_thread(low, 25);
    sleeps(high);
    assert_int_equal(other->state, STATE_RUNNING);
    assert_int_equal(CALL(other, THREAD_CTL, _NTO_TCTL_ONE_THREAD_HOLD, 1), 0);
    assert_int_equal(low->state, STATE_STOPPED);
    assert_int_equal(CALL(other, DTRACE, 4), 1004);
    assert_int_equal(steps, 2 * STEPS);
    assert_int_equal(CALL(other, THREAD_CTL, _NTO_TCTL_ONE_THREAD_CONT, 1), 0);
    sleeps(other);
    assert_int_equal(world_result(low), 1007);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, world_teardown)
    const struct CMUnitTest tests[] = {
        TEST(alone),      TEST(left),     TEST(second), TEST(inherited),
        TEST(owner_ends), TEST(finished), TEST(held),
    };

    world_boot_one();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
