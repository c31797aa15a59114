/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The end of a process in steps (kernel/proc/process.c): between any two of them another CPU does
 * something to the process that ends, to those that hear of it, or to the one that waits for it;
 * and on one CPU a thread of higher priority runs. Afterwards everybody has heard what it should,
 * and nothing is left.
 */
#include "test/kernel/world/stepwise.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "abi/sys/ability.h"
#include "kernel/base/cpu.h"
#include "kernel/thread/thread.h"

static struct thread *killer, *victim, *asleep, *running; /* the last three are of one process */
static struct thread *client, *sender, *server;
static struct process *ending;
static int pid;

/* What a process can hold: channels with pulses and clients, connections, timers, mappings. */
static void fill_victim(void)
{
    CALL(victim, CHANNEL_CREATE, 0);
    CALL(victim, CHANNEL_CREATE, 0);
    CALL(victim, CONNECT_ATTACH, 0, 0, 2, _NTO_SIDE_CHANNEL, 0);
    CALL(victim, CONNECT_ATTACH, 0, (uintptr_t)server->proc->pid, 1, 0, 0);
    CALL(victim, CONNECT_ATTACH, 0, (uintptr_t)server->proc->pid, 1, 0, 0);
    for (uintptr_t i = 0; i < 6; i++) {
        CALL(victim, MSG_SEND_PULSE, _NTO_SIDE_CHANNEL, 10, 1, i);
    }
    struct sigevent *event = world_at(victim, AT(3));
    SIGEV_PULSE_INIT(event, _NTO_SIDE_CHANNEL, 10, 1, 0);
    for (unsigned i = 0; i < 5; i++) {
        assert_true(CALL(victim, TIMER_CREATE, CLOCK_MONOTONIC, AT(3)) > 0);
    }
    assert_true(CALL(victim, MEM_MAP, 256, 3) > 0);
}

static void wake(void *t)
{
    thread_wake(t, 0, 0);
}

/* On one CPU everybody sleeps but the killer; else one of the victim's threads runs. */
static void set_up(bool one)
{
    server = world_process(0, 30, DATA);
    CALL(server, CHANNEL_CREATE, _NTO_CHF_DISCONNECT);
    stepwise_sleeps(server);
    killer = world_process(ABILITY_KILL, 20, DATA);
    stepwise_sleeps(killer);
    victim = world_child(killer, 0, 10, DATA);
    ending = victim->proc;
    pid = ending->pid;
    fill_victim();
    asleep = world_thread(victim, 10);
    client = world_process(0, 12, DATA);
    CALL(client, CONNECT_ATTACH, 0, (uintptr_t)pid, 1, 0, 0);
    sender = world_thread(client, 15);
    assert_int_equal(CALL(sender, MSG_SENDV, 0, 0, 0, 0, 0), BLOCKED);
    if (one) {
        stepwise_sleeps(client);
    }
    stepwise_sleeps(victim);
    stepwise_sleeps(asleep);
    running = one ? NULL : world_thread(victim, 10);
    world_do(0, wake, killer);
    world_settle();
    assert_int_equal(killer->state, STATE_RUNNING);
    assert_true(one || running->state == STATE_RUNNING);
    fake_lock_window = stepwise_window;
    fake_lock_wanted = true;
}

/* ---- what happens meanwhile ------------------------------------------------------------- */

static void nothing(void)
{
}

static void killer_ends(void)
{
    world_do(stepwise_free_cpu(), stepwise_end_process, killer->proc);
}

static void client_ends(void)
{
    world_do(stepwise_free_cpu(), stepwise_end_process, client->proc);
}

static void server_ends(void)
{
    world_do(stepwise_free_cpu(), stepwise_end_process, server->proc);
}

static void ended_again(void)
{
    if (ending->pid == pid && !ending->zombie) {
        world_do(stepwise_free_cpu(), stepwise_end_process, ending);
    }
}

/* Its channels are gone, or refuse: no message waits for a process that is no more. */
static void client_sends(void)
{
    stepwise_enter(client, KER_MSG_SENDV, 0, 0, 0, 0);
}

static void client_pulses(void)
{
    stepwise_enter(client, KER_MSG_SEND_PULSE, 0, 10, 1, 0);
    assert_int_equal(world_result(client), -ESRCH);
}

static void client_attaches(void)
{
    stepwise_enter(client, KER_CONNECT_ATTACH, 0, (uintptr_t)pid, 1, 0);
    assert_int_equal(world_result(client), -ESRCH);
}

static void client_detaches(void)
{
    stepwise_enter(client, KER_CONNECT_DETACH, 0, 0, 0, 0);
}

/* A thread that is to end on another CPU is in the kernel once more. */
static void runs_on(unsigned number, uintptr_t a0, uintptr_t a1)
{
    if (ending->pid == pid && !ending->zombie && ending->threads[2] == running &&
        running->state == STATE_RUNNING && !world_inside((unsigned)world_cpu_of(running)) &&
        running != ending->ender) {
        stepwise_enter(running, number, a0, a1, 0, 0);
    }
}

static void others_are_held(void)
{
    runs_on(KER_THREAD_CTL, _NTO_TCTL_THREADS_HOLD, 0);
}

static void others_are_ended(void)
{
    runs_on(KER_THREAD_DESTROY, 1, 0);
}

static void it_exits(void)
{
    runs_on(KER_PROC_EXIT, 0, 0);
}

/* ---- how it ends -------------------------------------------------------------------- */

static void by_signal(void)
{
    stepwise_enter(killer, KER_SIGNAL_KILL, 0, (uintptr_t)pid, 0, KYMO_SIGKILL);
}

static void by_fault(void)
{
    world_do((unsigned)world_cpu_of(killer), stepwise_end_process, ending);
}

static void by_itself(void)
{
    stepwise_enter(running, KER_PROC_EXIT, 0, 0, 0, 0);
}

static bool is_there(void)
{
    return ending->pid == pid && !ending->zombie;
}

static void (*how)(void); /* the process ends */

static void check_ended(void (*what)(void))
{
    assert_false(is_there());
    if (what != client_ends) {
        assert_int_equal(world_result(sender), what == client_detaches ? -EBADF : -ESRCH);
    }
    if (what == client_sends) {
        assert_int_equal(world_result(client), -ESRCH);
    }
    if (how == by_signal && what != killer_ends) {
        assert_int_equal(world_result(killer), 0);
    }
}

/* Returns whether the end took so many steps. */
static bool ends_with(void (*what)(void), unsigned n)
{
    set_up(false);
    stepwise.windows = 0;
    stepwise.act_at = n;
    stepwise.act = what;
    how();
    world_settle();
    world_check();
    bool done = stepwise.windows > n;
    if (done && what != client_detaches) {
        check_ended(what);
    }
    assert_false(is_there());
    stepwise_tear_down();
    return done;
}

static void at_each_step(void (*what)(void))
{
    static void (*const ways[])(void) = {by_signal, by_fault, by_itself};

    for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        how = ways[i];
        /* at the least a step for each kind of object */
        assert_in_range(stepwise_each(ends_with, what), 12, STEPS_MANY - 1);
    }
}

#define AT_EACH_STEP(what) \
    static void test_##what(void **state) \
    { \
        (void)state; \
        at_each_step(what); \
    }

AT_EACH_STEP(nothing)
AT_EACH_STEP(killer_ends)
AT_EACH_STEP(client_ends)
AT_EACH_STEP(server_ends)
AT_EACH_STEP(ended_again)
AT_EACH_STEP(client_sends)
AT_EACH_STEP(client_pulses)
AT_EACH_STEP(client_attaches)
AT_EACH_STEP(client_detaches)
AT_EACH_STEP(others_are_held)
AT_EACH_STEP(others_are_ended)
AT_EACH_STEP(it_exits)

/* ---- on one CPU ------------------------------------------------------------------------ */

/* A thread of higher priority that is woken between two steps has the CPU then; the end goes on
 * when that sleeps again. */
static void test_preempted(void **state)
{
    unsigned n = 0;
    bool left = true;

    (void)state;
    for (; left && n < STEPS_MANY; n++) {
        set_up(true);
        fake_lock_window = NULL;
        fake_lock_wanted = false;
        stepwise.high = world_process(0, 50, DATA);
        stepwise_sleeps(stepwise.high);
        stepwise.windows = 0;
        stepwise.act_at = n;
        fake_irq_window = stepwise_wakes_high;
        by_signal();
        fake_irq_window = NULL;
        left = stepwise.high->state == STATE_RUNNING;
        if (left && is_there()) {
            stepwise_sleeps(stepwise.high);
        }
        world_settle();
        assert_false(is_there());
        assert_int_equal(world_result(killer), 0);
        stepwise_tear_down();
    }
    assert_in_range(n, 12, STEPS_MANY - 1);
}

/* A thread that never gives up the CPU can't keep its process alive, whatever its priority. */
static void test_own_thread_higher(void **state)
{
    (void)state;
    set_up(true);
    fake_lock_window = NULL;
    fake_lock_wanted = false;
    stepwise_sleeps(killer);
    struct thread *hog = world_thread(victim, 40);
    assert_int_equal(hog->state, STATE_RUNNING);
    world_do(0, stepwise_end_process, ending);
    world_settle();
    assert_false(is_there());
    stepwise_tear_down();
}

int main(int argc, char **argv)
{
    const struct CMUnitTest one[] = {
        cmocka_unit_test(test_preempted),
        cmocka_unit_test(test_own_thread_higher),
    };
    const struct CMUnitTest several[] = {
        cmocka_unit_test(test_nothing),          cmocka_unit_test(test_killer_ends),
        cmocka_unit_test(test_client_ends),      cmocka_unit_test(test_server_ends),
        cmocka_unit_test(test_ended_again),      cmocka_unit_test(test_client_sends),
        cmocka_unit_test(test_client_pulses),    cmocka_unit_test(test_client_attaches),
        cmocka_unit_test(test_client_detaches),  cmocka_unit_test(test_others_are_held),
        cmocka_unit_test(test_others_are_ended), cmocka_unit_test(test_it_exits),
    };

    (void)argc;
    (void)argv;
    world_boot_one();
    int failed = cmocka_run_group_tests(one, NULL, NULL);
    world_other_cpus();
    return failed + cmocka_run_group_tests(several, NULL, NULL);
}
