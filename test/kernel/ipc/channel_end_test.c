/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ChannelDestroy() in steps (kernel/ipc/channel.c): a channel with waiting receivers, or with
 * clients in SEND and in REPLY, pulses and notices. Between any two steps another CPU does
 * something to the channel, its process or its clients; and on one CPU a thread of higher priority
 * runs. Each step does a bounded part, and afterwards everybody has heard, and nothing is left.
 */
#include "test/kernel/world/stepwise.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "abi/sys/neutrino.h"
#include "kernel/base/cpu.h"
#include "kernel/thread/thread.h"

#define CLIENTS 5 /* threads of a client that send; one more is there to act */
#define AT_ONCE 4 /* that a step may wake, or notices that it may send */

static struct thread *destroyer, *other; /* of the server */
static struct thread *actors[2];         /* of the clients */
static struct thread *senders[2][CLIENTS];
static int server_pid;
static unsigned blocked;

static unsigned count_blocked(void)
{
    unsigned n = 0;

    for (unsigned i = 0; i < 2 * CLIENTS; i++) {
        const struct thread *t = senders[i / CLIENTS][i % CLIENTS];
        n += t && (t->state == STATE_SEND || t->state == STATE_REPLY);
    }
    return n;
}

static void window(void)
{
    assert_true(blocked - count_blocked() <= AT_ONCE);
    stepwise_window();
    blocked = count_blocked();
}

static void raise_to(struct thread *t, int priority)
{
    struct sched_param_kymo *param = world_at(t, AT(3));

    param->sched_priority = priority;
    assert_int_equal(CALL(t, SCHED_SET, 0, 0, SCHED_RR, AT(3)), 0);
}

/* A process with connections to the channel, threads that send through them (two through the same
 * one) and pulses. Its first thread is there to act later. */
static void make_client(unsigned c, bool one)
{
    actors[c] = world_process(0, 30, DATA);
    for (unsigned i = 0; i < CLIENTS; i++) {
        CALL(actors[c], CONNECT_ATTACH, 0, (uintptr_t)server_pid, 1, 0, 0);
    }
    for (unsigned i = 0; i < CLIENTS; i++) {
        senders[c][i] = world_thread(actors[c], 35);
        uintptr_t coid = i < CLIENTS - 1 ? i : 0;
        assert_int_equal(CALL(senders[c][i], MSG_SENDV, coid, 0, 0, 0, 0), BLOCKED);
    }
    for (uintptr_t i = 0; i < 6; i++) {
        if (CALL(actors[c], MSG_SEND_PULSE, 0, 10, 1, i) != 0) {
            break; /* as many as a channel may have */
        }
    }
    raise_to(actors[c], 40);
    if (one) {
        stepwise_sleeps(actors[c]);
    }
}

static void set_up(bool one)
{
    destroyer = world_process(0, 20, DATA);
    server_pid = destroyer->proc->pid;
    assert_int_equal(CALL(destroyer, CHANNEL_CREATE, _NTO_CHF_DISCONNECT), 1);
    other = world_thread(destroyer, 21);
    make_client(0, one);
    make_client(1, one);
    for (uintptr_t i = 0; i < 3; i++) { /* in REPLY */
        assert_true(CALL(other, MSG_RECEIVEV, 1, AT(1), LEN(16), 0) > 0);
    }
    raise_to(other, 41);
    if (one) {
        stepwise_sleeps(other);
    }
    raise_to(destroyer, 45); /* those that it wakes wait for a CPU */
    world_settle();
    stepwise.windows = 0;
    blocked = count_blocked();
    assert_int_equal(blocked, 2 * CLIENTS);
    assert_int_equal(destroyer->state, STATE_RUNNING);
    fake_lock_window = one ? NULL : window;
    fake_lock_wanted = !one;
}

/* ---- what happens meanwhile ------------------------------------------------------------- */

static void nothing(void)
{
}

static bool runs(const struct thread *t)
{
    return t->state == STATE_RUNNING && !world_inside((unsigned)world_cpu_of(t));
}

static void client_ends(void)
{
    world_do(stepwise_free_cpu(), stepwise_end_process, actors[1]->proc);
    senders[1][0] = senders[1][1] = senders[1][2] = senders[1][3] = senders[1][4] = NULL;
}

static void server_ends(void)
{
    world_do(stepwise_free_cpu(), stepwise_end_process, destroyer->proc);
}

/* The thread that destroys is ended, and its process goes on. */
static void destroyer_ends(void)
{
    if (runs(other)) {
        stepwise_enter(other, KER_THREAD_DESTROY, (uintptr_t)destroyer->tid, 0, 0, 0);
    }
}

static void client_sends(void)
{
    if (runs(actors[0])) {
        stepwise_enter(actors[0], KER_MSG_SENDV, 3, 0, 0, 0);
    }
}

static void client_pulses(void)
{
    if (runs(actors[0])) {
        stepwise_enter(actors[0], KER_MSG_SEND_PULSE, 3, 10, 1, 0);
    }
}

static void client_detaches(void)
{
    if (runs(actors[1])) {
        stepwise_enter(actors[1], KER_CONNECT_DETACH, 0, 0, 0, 0);
        stepwise_enter(actors[1], KER_CONNECT_DETACH, 2, 0, 0, 0);
    }
}

static void client_attaches(void)
{
    if (runs(actors[0])) {
        stepwise_enter(actors[0], KER_CONNECT_ATTACH, 0, (uintptr_t)server_pid, 1, 0);
        assert_int_equal(world_result(actors[0]), -ESRCH);
    }
}

/* Its clients may still be answered. */
static void server_answers(void)
{
    for (unsigned i = 0; runs(other) && i < 2 * CLIENTS; i++) {
        const struct thread *t = senders[i / CLIENTS][i % CLIENTS];
        if (t->state == STATE_REPLY) {
            stepwise_enter(other, KER_MSG_CURRENT, (uintptr_t)t->rcvid, 0, 0, 0);
            stepwise_enter(other, KER_MSG_REPLYV, (uintptr_t)t->rcvid, (uintptr_t)-ESRCH, 0, 0);
            return;
        }
    }
}

static void server_receives(void)
{
    if (runs(other)) {
        stepwise_enter(other, KER_MSG_RECEIVEV, 1, AT(1), LEN(16), 0);
        assert_int_equal(world_result(other), -ESRCH);
    }
}

/* The chid goes to a new channel, whose messages are its own. */
static void server_creates(void)
{
    if (runs(other) && runs(actors[1])) {
        stepwise_enter(other, KER_CHANNEL_CREATE, 0, 0, 0, 0);
        assert_int_equal(world_result(other), 1);
        stepwise_enter(actors[1], KER_CONNECT_ATTACH, 0, (uintptr_t)server_pid, 1,
                       _NTO_SIDE_CHANNEL);
        uintptr_t coid = (uintptr_t)world_result(actors[1]);
        stepwise_enter(actors[1], KER_MSG_SENDV, coid, 0, 0, 0);
        stepwise_enter(other, KER_MSG_RECEIVEV, 1, AT(1), LEN(16), 0);
        assert_int_equal(world_result(other), actors[1]->rcvid);
        assert_int_equal(actors[1]->state, STATE_REPLY);
    }
}

/* Two that destroy do each other's work. */
static void server_destroys(void)
{
    if (runs(other)) {
        stepwise_enter(other, KER_CHANNEL_CREATE, _NTO_CHF_DISCONNECT, 0, 0, 0);
        uintptr_t chid = (uintptr_t)world_result(other);
        stepwise_enter(other, KER_CHANNEL_DESTROY, chid, 0, 0, 0);
    }
}

/* ---- each of them at each step ------------------------------------------------------------ */

static void check_heard(void (*what)(void), bool done)
{
    for (unsigned i = 0; i < 2 * CLIENTS; i++) {
        struct thread *t = senders[i / CLIENTS][i % CLIENTS];
        if (t && what != client_detaches) {
            long result = world_result(t);
            assert_true(result == -ESRCH);
        }
    }
    if (done && what == client_sends) {
        long result = world_result(actors[0]);
        assert_true(result == -ESRCH || result == -EBADF);
    }
    if (what != server_ends && what != destroyer_ends) {
        assert_int_equal(world_result(destroyer), 0);
        assert_null(destroyer->proc->closing);
        assert_int_equal(destroyer->proc->quota.used[KYMO_LIMIT_CHANNELS],
                         what == server_creates && destroyer->proc->channels[0] ? 1 : 0);
    }
}

/* Returns whether the end took so many steps. */
static bool ends_with(void (*what)(void), unsigned n)
{
    set_up(false);
    stepwise.act_at = n;
    stepwise.act = what;
    stepwise_enter(destroyer, KER_CHANNEL_DESTROY, 1, 0, 0, 0);
    world_settle();
    world_check();
    bool done = stepwise.windows > n;
    check_heard(what, done);
    stepwise_tear_down();
    return done;
}

#define AT_EACH_STEP(what) \
    static void test_##what(void **state) \
    { \
        (void)state; \
        /* a step for each connection, and for the pulses */ \
        assert_in_range(stepwise_each(ends_with, what), 10, STEPS_MANY - 1); \
    }

AT_EACH_STEP(nothing)
AT_EACH_STEP(client_ends)
AT_EACH_STEP(server_ends)
AT_EACH_STEP(destroyer_ends)
AT_EACH_STEP(client_sends)
AT_EACH_STEP(client_pulses)
AT_EACH_STEP(client_detaches)
AT_EACH_STEP(client_attaches)
AT_EACH_STEP(server_answers)
AT_EACH_STEP(server_receives)
AT_EACH_STEP(server_creates)
AT_EACH_STEP(server_destroys)

/* Threads that wait to receive are woken a few at a time, too. */
static void test_receivers(void **state)
{
    struct thread *waiting[CLIENTS];

    (void)state;
    destroyer = world_process(0, 20, DATA);
    assert_int_equal(CALL(destroyer, CHANNEL_CREATE, 0), 1);
    for (unsigned i = 0; i < CLIENTS; i++) {
        waiting[i] = world_thread(destroyer, 15);
        assert_int_equal(CALL(waiting[i], MSG_RECEIVEV, 1, AT(1), LEN(16), 0), BLOCKED);
    }
    stepwise.windows = blocked = 0;
    stepwise.act = NULL;
    fake_lock_window = window;
    fake_lock_wanted = true;
    assert_int_equal(CALL(destroyer, CHANNEL_DESTROY, 1), 0);
    assert_true(stepwise.windows >= 2);
    for (unsigned i = 0; i < CLIENTS; i++) {
        assert_int_equal(world_result(waiting[i]), -ESRCH);
    }
    assert_int_equal(CALL(destroyer, CHANNEL_DESTROY, 1), -EINVAL);
    stepwise_tear_down();
}

/* ---- on one CPU ------------------------------------------------------------------------ */

/* A thread of higher priority that is woken between two steps has the CPU then; the rest follows
 * when that sleeps again. */
static void test_preempted(void **state)
{
    unsigned n = 0;
    bool left = true;

    (void)state;
    for (; left && n < STEPS_MANY; n++) {
        set_up(true);
        stepwise.high = world_process(0, 50, DATA);
        stepwise_sleeps(stepwise.high);
        stepwise.windows = 0;
        stepwise.act_at = n;
        fake_irq_window = stepwise_wakes_high;
        stepwise_enter(destroyer, KER_CHANNEL_DESTROY, 1, 0, 0, 0);
        fake_irq_window = NULL;
        left = stepwise.high->state == STATE_RUNNING;
        if (left) {
            stepwise_sleeps(stepwise.high);
        }
        world_settle();
        check_heard(NULL, true);
        stepwise_tear_down();
    }
    assert_in_range(n, 10, STEPS_MANY - 1);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest one[] = {
        cmocka_unit_test(test_preempted),
    };
    const struct CMUnitTest several[] = {
        cmocka_unit_test(test_nothing),         cmocka_unit_test(test_client_ends),
        cmocka_unit_test(test_server_ends),     cmocka_unit_test(test_destroyer_ends),
        cmocka_unit_test(test_client_sends),    cmocka_unit_test(test_client_pulses),
        cmocka_unit_test(test_client_detaches), cmocka_unit_test(test_client_attaches),
        cmocka_unit_test(test_server_answers),  cmocka_unit_test(test_server_receives),
        cmocka_unit_test(test_server_creates),  cmocka_unit_test(test_server_destroys),
        cmocka_unit_test(test_receivers),
    };

    (void)argc;
    (void)argv;
    world_boot_one();
    int failed = cmocka_run_group_tests(one, NULL, NULL);
    world_other_cpus();
    return failed + cmocka_run_group_tests(several, NULL, NULL);
}
