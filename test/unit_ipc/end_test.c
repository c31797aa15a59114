/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The end of a process in steps (kernel/proc/process.c): between any two of them another CPU does
 * something to the process that ends, to those that hear of it, or to the one that waits for it;
 * and on one CPU a thread of higher priority runs. Afterwards everybody has heard what it should,
 * and nothing is left.
 */
#include "test/unit_ipc/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "abi/sys/ability.h"
#include "kernel/base/cpu.h"
#include "kernel/thread/thread.h"

#define MANY 1000 /* steps that no end takes */

static struct thread *killer, *victim, *asleep, *running; /* the last three are of one process */
static struct thread *client, *sender, *server;
static struct process *ending;
static int pid;
static unsigned windows, act_at;
static void (*act)(void);

static void window(void)
{
    unsigned self = fake_cpu;
    if (windows++ == act_at && act) {
        act();
    }
    fake_cpu = self;
}

static void enter(struct thread *t, unsigned number, uintptr_t a0, uintptr_t a1, uintptr_t a2,
                  uintptr_t a3)
{
    world_enter(t, number, (uintptr_t[6]){a0, a1, a2, a3});
}

static void sleeps(struct thread *t)
{
    assert_int_equal(CALL(t, INTERRUPT_WAIT, 0, 0), BLOCKED);
}

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
    sleeps(server);
    killer = world_process(ABILITY_KILL, 20, DATA);
    sleeps(killer);
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
        sleeps(client);
    }
    sleeps(victim);
    sleeps(asleep);
    running = one ? NULL : world_thread(victim, 10);
    world_do(0, wake, killer);
    world_settle();
    assert_int_equal(killer->state, STATE_RUNNING);
    assert_true(one || running->state == STATE_RUNNING);
    fake_lock_window = window;
    fake_lock_wanted = true;
}

static void tear_down(void)
{
    fake_lock_window = NULL;
    fake_lock_wanted = false;
    world_end();
}

/* ---- what happens meanwhile ------------------------------------------------------------- */

static void nothing(void)
{
}

static void do_end(void *proc)
{
    process_end(proc, KYMO_SIGSEGV);
}

static unsigned free_cpu(void)
{
    unsigned n = 0;
    while (world_inside(n)) {
        n++;
    }
    return n;
}

static void killer_ends(void)
{
    world_do(free_cpu(), do_end, killer->proc);
}

static void client_ends(void)
{
    world_do(free_cpu(), do_end, client->proc);
}

static void server_ends(void)
{
    world_do(free_cpu(), do_end, server->proc);
}

static void ended_again(void)
{
    if (ending->pid == pid && !ending->zombie) {
        world_do(free_cpu(), do_end, ending);
    }
}

/* Its channels are gone, or refuse: no message waits for a process that is no more. */
static void client_sends(void)
{
    enter(client, KER_MSG_SENDV, 0, 0, 0, 0);
}

static void client_pulses(void)
{
    enter(client, KER_MSG_SEND_PULSE, 0, 10, 1, 0);
    assert_int_equal(world_result(client), -ESRCH);
}

static void client_attaches(void)
{
    enter(client, KER_CONNECT_ATTACH, 0, (uintptr_t)pid, 1, 0);
    assert_int_equal(world_result(client), -ESRCH);
}

static void client_detaches(void)
{
    enter(client, KER_CONNECT_DETACH, 0, 0, 0, 0);
}

/* A thread that is to end on another CPU is in the kernel once more. */
static void runs_on(unsigned number, uintptr_t a0, uintptr_t a1)
{
    if (ending->pid == pid && !ending->zombie && ending->threads[2] == running &&
        running->state == STATE_RUNNING && !world_inside((unsigned)world_cpu_of(running)) &&
        running != ending->ender) {
        enter(running, number, a0, a1, 0, 0);
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
    enter(killer, KER_SIGNAL_KILL, 0, (uintptr_t)pid, 0, KYMO_SIGKILL);
}

static void by_fault(void)
{
    world_do((unsigned)world_cpu_of(killer), do_end, ending);
}

static void by_itself(void)
{
    enter(running, KER_PROC_EXIT, 0, 0, 0, 0);
}

static bool is_there(void)
{
    return ending->pid == pid && !ending->zombie;
}

static void check_ended(void (*how)(void), void (*what)(void))
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
static bool ends_with(void (*how)(void), void (*what)(void), unsigned n)
{
    set_up(false);
    windows = 0;
    act_at = n;
    act = what;
    how();
    world_settle();
    world_check();
    bool done = windows > n;
    if (done && what != client_detaches) {
        check_ended(how, what);
    }
    assert_false(is_there());
    tear_down();
    return done;
}

static void at_each_step(void (*what)(void))
{
    static void (*const ways[])(void) = {by_signal, by_fault, by_itself};

    for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        unsigned n = 0;
        while (n < MANY && ends_with(ways[i], what, n)) {
            n++;
        }
        assert_in_range(n, 12, MANY - 1); /* at the least a step for each kind of object */
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

static struct thread *high;

static void wakes_high(void)
{
    if (windows++ == act_at && high->state == STATE_INTR) {
        thread_wake(high, 0, 0);
    }
}

/* A thread of higher priority that is woken between two steps has the CPU then; the end goes on
 * when that sleeps again. */
static void test_preempted(void **state)
{
    unsigned n = 0;
    bool left = true;

    (void)state;
    for (; left && n < MANY; n++) {
        set_up(true);
        fake_lock_window = NULL;
        fake_lock_wanted = false;
        high = world_process(0, 50, DATA);
        sleeps(high);
        windows = 0;
        act_at = n;
        fake_irq_window = wakes_high;
        by_signal();
        fake_irq_window = NULL;
        left = high->state == STATE_RUNNING;
        if (left && is_there()) {
            sleeps(high);
        }
        world_settle();
        assert_false(is_there());
        assert_int_equal(world_result(killer), 0);
        tear_down();
    }
    assert_in_range(n, 12, MANY - 1);
}

/* A thread that never gives up the CPU can't keep its process alive, whatever its priority. */
static void test_own_thread_higher(void **state)
{
    (void)state;
    set_up(true);
    fake_lock_window = NULL;
    fake_lock_wanted = false;
    sleeps(killer);
    struct thread *hog = world_thread(victim, 40);
    assert_int_equal(hog->state, STATE_RUNNING);
    world_do(0, do_end, ending);
    world_settle();
    assert_false(is_there());
    tear_down();
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
