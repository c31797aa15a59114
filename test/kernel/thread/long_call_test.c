/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Long calls (kernel/thread/long_call.c) on one CPU, with DTRACE as the call: left at a window for
 * a thread of higher priority and continued; a second caller, whose priority the first one
 * inherits; threads that end or are held meanwhile. The end of the trace's hook is such a call,
 * too.
 */
#include "test/kernel/world/world.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "abi/sys/ability.h"
#include "kernel/base/cpu.h"
#include "kernel/base/window.h"
#include "kernel/intr/intr.h"

#define LEFT 5 /* steps after which a thread of higher priority wakes */
#define STEPS 10

static struct thread *low, *middle, *high; /* of three processes */
static unsigned steps, inside, most_inside;
static struct thread *woken; /* by step LEFT; NULL: nobody */
static struct thread *later; /* by the next one */
static struct thread *last;  /* by the one after that */
static struct thread *final; /* after the last window: it runs when the call has ended */

/* Counts steps; another one of it must not begin before it is over. */
static long part(struct thread *self, const uintptr_t *args)
{
    (void)self;
    inside++;
    most_inside = inside > most_inside ? inside : most_inside;
    for (unsigned i = 1; i <= STEPS; i++) {
        assert_true(fake_held); /* what an interrupt has noted waits, from the first step on */
        assert_false(fake_hook_detached);
        steps++;
        if (i == LEFT && woken) {
            thread_wake(woken, 0, 0);
            woken = NULL;
        } else if (i == LEFT + 1 && later) {
            thread_wake(later, 0, 0);
            later = NULL;
        } else if (i == LEFT + 2 && last) {
            thread_wake(last, 0, 0);
            last = NULL;
        }
        kernel_window();
    }
    if (final) {
        thread_wake(final, 0, 0);
        final = NULL;
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
    woken = later = last = final = NULL;
    fake_long_call = part;
    fake_hook_detached = false;
    fake_hook_goes = NULL;
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
    assert_true(long_call_pending() && fake_held);
}

static void test_alone(void **state)
{
    (void)state;
    sleeps(high);
    sleeps(middle);
    assert_int_equal(CALL(low, DTRACE, 5), 1005);
    assert_int_equal(steps, STEPS);
    assert_false(long_call_pending() || fake_held);
}

static void test_left(void **state)
{
    (void)state;
    leave(high);
    sleeps(high);
    assert_int_equal(world_result(low), 1007);
    assert_int_equal(steps, STEPS);
    assert_false(long_call_pending() || fake_held);
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

/* The second caller's priority rises while it waits. */
static void test_inherited_later(void **state)
{
    (void)state;
    leave(middle);
    struct thread *third = world_process(ABILITY_PRIORITY, 40, DATA);
    sleeps(third);
    struct thread *second = world_process(0, 25, DATA);
    later = third;
    assert_int_equal(CALL(second, DTRACE, 2), BLOCKED);
    assert_int_equal(third->state, STATE_RUNNING);
    assert_int_equal(low->priority, 25);
    ((struct sched_param_kymo *)world_at(third, AT(4)))->sched_priority = 35;
    assert_int_equal(CALL(third, SCHED_SET, (uintptr_t)second->proc->pid, 1, SCHED_RR, AT(4)), 0);
    assert_int_equal(low->priority, 35);
    sleeps(third);
    assert_int_equal(world_result(second), 1002);
    assert_int_equal(low->priority, 10);
}

static struct thread *sleeper(int priority)
{
    struct thread *t = world_process(ABILITY_PRIORITY, priority, DATA);

    sleeps(t);
    return t;
}

static void set_priority(struct thread *by, const struct thread *of, int priority)
{
    ((struct sched_param_kymo *)world_at(by, AT(4)))->sched_priority = priority;
    assert_int_equal(CALL(by, SCHED_SET, (uintptr_t)of->proc->pid, 1, SCHED_RR, AT(4)), 0);
}

/* high (30) waits before first (40) takes the lock; then first's own priority falls to 5. */
static void test_owner_inherits_from_earlier(void **state)
{
    (void)state;
    leave(high);
    struct thread *first = sleeper(40), *boss = sleeper(50);
    later = first;
    assert_int_equal(CALL(high, DTRACE, 1), BLOCKED);
    woken = boss;
    assert_int_equal(CALL(first, DTRACE, 2), BLOCKED);
    assert_int_equal(world_result(low), 1007);
    assert_int_equal(boss->state, STATE_RUNNING);
    set_priority(boss, first, 5);
    assert_int_equal(first->priority, 30);
    sleeps(boss);
    assert_int_equal(world_result(first), 1002);
    assert_int_equal(world_result(high), 1001);
    assert_int_equal(first->priority, 5);
}

/* high (30) and first (40) wait; boss runs when low's call ends. */
static struct thread *two_wait(struct thread **first)
{
    leave(high);
    *first = sleeper(40);
    struct thread *boss = sleeper(50);
    later = *first;
    assert_int_equal(CALL(high, DTRACE, 1), BLOCKED);
    last = boss;
    assert_int_equal(CALL(*first, DTRACE, 2), BLOCKED);
    assert_int_equal(boss->state, STATE_RUNNING);
    assert_int_equal(low->priority, 40);
    final = boss;
    assert_int_equal(CALL(boss, INTERRUPT_WAIT, 0, 0), 0);
    assert_int_equal(boss->state, STATE_RUNNING);
    assert_int_equal((*first)->state, STATE_READY);
    assert_int_equal(high->state, STATE_WAITCTX);
    return boss;
}

/* The priority of the thread that is woken to take the lock falls before it has come. */
static void test_woken_inherits(void **state)
{
    struct thread *first;

    (void)state;
    struct thread *boss = two_wait(&first);
    set_priority(boss, first, 5);
    assert_int_equal(first->priority, 30);
    sleeps(boss);
    assert_int_equal(world_result(first), 1002);
    assert_int_equal(world_result(high), 1001);
    assert_int_equal(first->priority, 5);
}

/* boss takes the lock before the woken thread, which inherits nothing any longer; boss does. */
static void test_woken_is_late(void **state)
{
    struct thread *first;

    (void)state;
    struct thread *boss = two_wait(&first);
    set_priority(boss, first, 5);
    struct thread *above = world_thread(boss, 60);
    sleeps(above);
    woken = above;
    assert_int_equal(CALL(boss, DTRACE, 3), BLOCKED);
    assert_int_equal(above->state, STATE_RUNNING);
    set_priority(above, boss, 7);
    assert_int_equal(boss->priority, 30);
    sleeps(above);
    assert_int_equal(world_result(high), 1001);
    assert_int_equal(first->priority, 5);
    sleeps(high);
    assert_int_equal(world_result(low), 1007);
    sleeps(low);
    assert_int_equal(world_result(boss), 1003);
    sleeps(boss);
    assert_int_equal(world_result(first), 1002);
}

static void hold(void *t)
{
    thread_hold(t);
}

static void continue_it(void *t)
{
    thread_continue(t);
}

/* The woken thread is held: the next one is woken, and the held one inherits nothing. */
static void test_woken_held(void **state)
{
    struct thread *first;

    (void)state;
    struct thread *boss = two_wait(&first);
    set_priority(boss, first, 5);
    world_do(0, hold, first);
    assert_int_equal(first->state, STATE_STOPPED);
    assert_int_equal(first->priority, 5);
    assert_int_equal(high->state, STATE_READY);
    world_do(0, continue_it, first);
    sleeps(boss);
    assert_int_equal(world_result(high), 1001);
    sleeps(high);
    assert_int_equal(world_result(low), 1007);
    sleeps(low);
    assert_int_equal(world_result(first), 1002);
}

/* Who waits for the owner's end does so before a thread whose priority is between the two. */
static void test_killed(void **state)
{
    (void)state;
    leave(middle);
    struct thread *third = world_process(ABILITY_KILL, 30, DATA);
    int pid = low->proc->pid;
    assert_int_equal(CALL(third, SIGNAL_KILL, 0, (uintptr_t)pid, 0, KYMO_SIGKILL), 0);
    assert_int_equal(steps, STEPS);
    assert_int_equal(middle->state, STATE_READY);
    assert_null(process_find(pid));
}

static void end_process(void *proc)
{
    process_end(proc, KYMO_SIGKILL);
}

/* It finishes its call first, in steps, at the priority of who waits for it. */
static void test_owner_ends(void **state)
{
    (void)state;
    leave(high);
    int pid = low->proc->pid;
    world_do(0, end_process, low->proc);
    world_settle();
    assert_int_equal(steps, LEFT);
    assert_true(long_call_pending());
    assert_int_equal(CALL(high, DTRACE, 3), 1003);
    assert_int_equal(most_inside, 1);
    assert_int_equal(steps, 2 * STEPS);
    assert_false(long_call_pending() || fake_held);
    sleeps(high);
    assert_null(process_find(pid));
    assert_null(process_any(pid));
}

static void test_held(void **state)
{
    (void)state;
    leave(high);
    struct thread *other = world_thread(low, 25);
    sleeps(high);
    assert_int_equal(other->state, STATE_RUNNING);
    assert_int_equal(CALL(other, THREAD_CTL, _NTO_TCTL_ONE_THREAD_HOLD, 1), 0);
    assert_int_equal(low->state, STATE_READY); /* until its call is over */
    assert_int_equal(CALL(other, DTRACE, 4), 1004);
    assert_int_equal(low->state, STATE_STOPPED);
    assert_int_equal(steps, 2 * STEPS);
    assert_int_equal(CALL(other, THREAD_CTL, _NTO_TCTL_ONE_THREAD_CONT, 1), 0);
    sleeps(other);
    assert_int_equal(world_result(low), 1007);
}

/* ---- the trace's hook -------------------------------------------------------------- */

/* A process that has it runs, as attachment 0. */
static struct thread *hooked(int priority)
{
    struct thread *t = world_process(ABILITY_TRACE, priority, DATA);
    struct sigevent *event = world_at(t, AT(1));

    CALL(t, CHANNEL_CREATE, 0);
    CALL(t, CONNECT_ATTACH, 0, 0, 1, 0, 0);
    *event = (struct sigevent){0};
    SIGEV_PULSE_INIT(event, 0, 15, 1, 1);
    assert_int_equal(CALL(t, INTERRUPT_ATTACH, _NTO_HOOK_TRACE, AT(1), 0), 0);
    return t;
}

/* Its end waits for another's call, which inherits. */
static void test_hook_is_detached_behind(void **state)
{
    (void)state;
    leave(middle);
    struct thread *owner = hooked(30);
    assert_int_equal(CALL(owner, INTERRUPT_DETACH, 0), 0);
    assert_true(fake_hook_detached);
    assert_int_equal(steps, STEPS);
    assert_int_equal(middle->state, STATE_READY);
    assert_int_equal(low->priority, 10);
    assert_int_equal(CALL(owner, INTERRUPT_DETACH, 0), -EINVAL);
    assert_false(long_call_pending() || fake_held);
}

static void test_hook_dies_behind(void **state)
{
    (void)state;
    leave(middle);
    struct thread *owner = hooked(30);
    int pid = owner->proc->pid;
    world_kill(owner->proc);
    sleeps(middle);
    assert_true(fake_hook_detached);
    assert_int_equal(steps, STEPS);
    assert_null(process_find(pid));
    assert_null(process_any(pid));
    assert_false(long_call_pending() || fake_held);
}

/* Both threads of the owner would detach it: the second finds nothing. */
static void test_hook_is_detached_twice(void **state)
{
    (void)state;
    leave(high);
    struct thread *owner = hooked(40), *second = world_thread(owner, 45);
    sleeps(second);
    later = second;
    assert_int_equal(CALL(owner, INTERRUPT_DETACH, 0), BLOCKED);
    assert_int_equal(second->state, STATE_RUNNING);
    assert_int_equal(CALL(second, INTERRUPT_DETACH, 0), 0);
    assert_true(fake_hook_detached);
    sleeps(second);
    assert_int_equal(world_result(owner), -EINVAL);
}

static unsigned hook_steps;

/* What stops the recording: high wakes amid it. */
static void hook_goes(void)
{
    fake_hook_goes = NULL;
    for (hook_steps = 1; hook_steps <= STEPS; hook_steps++) {
        assert_true(fake_held);
        if (hook_steps == LEFT) {
            thread_wake(high, 0, 0);
        }
        kernel_window();
    }
}

/* high runs amid the end of the hook, has it meanwhile, and keeps it. */
static void amid_its_end(struct thread *owner)
{
    assert_int_equal(hook_steps, LEFT);
    assert_int_equal(high->state, STATE_RUNNING);
    assert_int_equal(owner->state, STATE_READY);
    assert_true(long_call_pending() && fake_held);
    assert_false(fake_hook_detached);
    CALL(high, CHANNEL_CREATE, 0);
    CALL(high, CONNECT_ATTACH, 0, 0, 1, 0, 0);
    struct sigevent *event = world_at(high, AT(1));
    *event = (struct sigevent){0};
    SIGEV_PULSE_INIT(event, 0, 15, 1, 1);
    high->proc->ability |= ABILITY_TRACE;
    assert_int_equal(CALL(high, INTERRUPT_ATTACH, _NTO_HOOK_TRACE, AT(1), 0), 0);
    sleeps(high);
    assert_int_equal(hook_steps, STEPS + 1);
    assert_true(fake_hook_detached);
    assert_false(long_call_pending() || fake_held);
    assert_ptr_equal(intr_trace_hook->proc, high->proc);
}

static void test_left_amid_detach(void **state)
{
    (void)state;
    sleeps(high);
    sleeps(middle);
    struct thread *owner = hooked(15);
    fake_hook_goes = hook_goes;
    assert_int_equal(CALL(owner, INTERRUPT_DETACH, 0), BLOCKED);
    amid_its_end(owner);
    assert_int_equal(world_result(owner), 0);
}

static void test_left_amid_death(void **state)
{
    (void)state;
    sleeps(high);
    sleeps(middle);
    struct thread *owner = hooked(15);
    int pid = owner->proc->pid;
    fake_hook_goes = hook_goes;
    world_do(0, end_process, owner->proc);
    world_settle();
    amid_its_end(owner);
    assert_null(process_any(pid));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, world_teardown)
    const struct CMUnitTest tests[] = {
        TEST(alone),
        TEST(left),
        TEST(second),
        TEST(inherited),
        TEST(inherited_later),
        TEST(killed),
        TEST(owner_ends),
        TEST(held),
        TEST(owner_inherits_from_earlier),
        TEST(woken_inherits),
        TEST(woken_held),
        TEST(woken_is_late),
        TEST(hook_is_detached_behind),
        TEST(hook_dies_behind),
        TEST(hook_is_detached_twice),
        TEST(left_amid_detach),
        TEST(left_amid_death),
    };

    world_boot_one();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
