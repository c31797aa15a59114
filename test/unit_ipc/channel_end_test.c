/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ChannelDestroy() in steps (kernel/ipc/channel.c): a channel with waiting receivers, or with
 * clients in SEND and in REPLY, pulses and notices. Between any two steps another CPU does
 * something to the channel, its process or its clients; and on one CPU a thread of higher priority
 * runs. Each step does a bounded part, and afterwards everybody has heard, and nothing is left.
 */
#include "test/unit_ipc/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "abi/sys/neutrino.h"
#include "kernel/base/cpu.h"
#include "kernel/thread/thread.h"

#define MANY 1000 /* steps that no end takes */
#define CLIENTS 5 /* threads of a client that send; one more is there to act */
#define AT_ONCE 4 /* that a step may wake, or notices that it may send */

static struct thread *destroyer, *other,
    *high;                       /* of the server; one that has nothing to do with it */
static struct thread *actors[2]; /* of the clients */
static struct thread *senders[2][CLIENTS];
static int server_pid;
static unsigned windows, act_at, blocked;
static void (*act)(void);

static void enter(struct thread *t, unsigned number, uintptr_t a0, uintptr_t a1, uintptr_t a2,
                  uintptr_t a3)
{
    world_enter(t, number, (uintptr_t[6]){a0, a1, a2, a3});
}

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
    unsigned self = fake_cpu, now = count_blocked();
    static bool acts;

    assert_true(blocked - now <= AT_ONCE);
    if (windows++ == act_at && act && !acts) {
        acts = true;
        act();
        acts = false;
    }
    blocked = count_blocked();
    fake_cpu = self;
}

static void sleeps(struct thread *t)
{
    assert_int_equal(CALL(t, INTERRUPT_WAIT, 0, 0), BLOCKED);
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
        sleeps(actors[c]);
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
        sleeps(other);
    }
    raise_to(destroyer, 45); /* those that it wakes wait for a CPU */
    high = NULL;
    world_settle();
    windows = 0;
    blocked = count_blocked();
    assert_int_equal(blocked, 2 * CLIENTS);
    assert_int_equal(destroyer->state, STATE_RUNNING);
    fake_lock_window = one ? NULL : window;
    fake_lock_wanted = !one;
}

static void tear_down(void)
{
    fake_lock_window = NULL;
    fake_irq_window = NULL;
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

static bool runs(const struct thread *t)
{
    return t->state == STATE_RUNNING && !world_inside((unsigned)world_cpu_of(t));
}

static void client_ends(void)
{
    world_do(free_cpu(), do_end, actors[1]->proc);
    senders[1][0] = senders[1][1] = senders[1][2] = senders[1][3] = senders[1][4] = NULL;
}

static void server_ends(void)
{
    world_do(free_cpu(), do_end, destroyer->proc);
}

/* The thread that destroys is ended, and its process goes on. */
static void destroyer_ends(void)
{
    if (runs(other)) {
        enter(other, KER_THREAD_DESTROY, (uintptr_t)destroyer->tid, 0, 0, 0);
    }
}

static void client_sends(void)
{
    if (runs(actors[0])) {
        enter(actors[0], KER_MSG_SENDV, 3, 0, 0, 0);
    }
}

static void client_pulses(void)
{
    if (runs(actors[0])) {
        enter(actors[0], KER_MSG_SEND_PULSE, 3, 10, 1, 0);
    }
}

static void client_detaches(void)
{
    if (runs(actors[1])) {
        enter(actors[1], KER_CONNECT_DETACH, 0, 0, 0, 0);
        enter(actors[1], KER_CONNECT_DETACH, 2, 0, 0, 0);
    }
}

static void client_attaches(void)
{
    if (runs(actors[0])) {
        enter(actors[0], KER_CONNECT_ATTACH, 0, (uintptr_t)server_pid, 1, 0);
        assert_int_equal(world_result(actors[0]), -ESRCH);
    }
}

/* Its clients may still be answered. */
static void server_answers(void)
{
    for (unsigned i = 0; runs(other) && i < 2 * CLIENTS; i++) {
        const struct thread *t = senders[i / CLIENTS][i % CLIENTS];
        if (t->state == STATE_REPLY) {
            enter(other, KER_MSG_CURRENT, (uintptr_t)t->rcvid, 0, 0, 0);
            enter(other, KER_MSG_REPLYV, (uintptr_t)t->rcvid, (uintptr_t)-ESRCH, 0, 0);
            return;
        }
    }
}

static void server_receives(void)
{
    if (runs(other)) {
        enter(other, KER_MSG_RECEIVEV, 1, AT(1), LEN(16), 0);
        assert_int_equal(world_result(other), -ESRCH);
    }
}

/* The chid goes to a new channel, whose messages are its own. */
static void server_creates(void)
{
    if (runs(other) && runs(actors[1])) {
        enter(other, KER_CHANNEL_CREATE, 0, 0, 0, 0);
        assert_int_equal(world_result(other), 1);
        enter(actors[1], KER_CONNECT_ATTACH, 0, (uintptr_t)server_pid, 1, _NTO_SIDE_CHANNEL);
        uintptr_t coid = (uintptr_t)world_result(actors[1]);
        enter(actors[1], KER_MSG_SENDV, coid, 0, 0, 0);
        enter(other, KER_MSG_RECEIVEV, 1, AT(1), LEN(16), 0);
        assert_int_equal(world_result(other), actors[1]->rcvid);
        assert_int_equal(actors[1]->state, STATE_REPLY);
    }
}

/* Two that destroy do each other's work. */
static void server_destroys(void)
{
    if (runs(other)) {
        enter(other, KER_CHANNEL_CREATE, _NTO_CHF_DISCONNECT, 0, 0, 0);
        uintptr_t chid = (uintptr_t)world_result(other);
        enter(other, KER_CHANNEL_DESTROY, chid, 0, 0, 0);
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
    act_at = n;
    act = what;
    enter(destroyer, KER_CHANNEL_DESTROY, 1, 0, 0, 0);
    world_settle();
    world_check();
    bool done = windows > n;
    check_heard(what, done);
    tear_down();
    return done;
}

static void at_each_step(void (*what)(void))
{
    unsigned n = 0;

    while (n < MANY && ends_with(what, n)) {
        n++;
    }
    assert_in_range(n, 10, MANY - 1); /* a step for each connection, and for the pulses */
}

#define AT_EACH_STEP(what) \
    static void test_##what(void **state) \
    { \
        (void)state; \
        at_each_step(what); \
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
    windows = blocked = 0;
    act = NULL;
    fake_lock_window = window;
    fake_lock_wanted = true;
    assert_int_equal(CALL(destroyer, CHANNEL_DESTROY, 1), 0);
    assert_true(windows >= 2);
    for (unsigned i = 0; i < CLIENTS; i++) {
        assert_int_equal(world_result(waiting[i]), -ESRCH);
    }
    assert_int_equal(CALL(destroyer, CHANNEL_DESTROY, 1), -EINVAL);
    tear_down();
}

/* ---- on one CPU ------------------------------------------------------------------------ */

static void wakes_high(void)
{
    if (windows++ == act_at && high->state == STATE_INTR) {
        thread_wake(high, 0, 0);
    }
}

/* A thread of higher priority that is woken between two steps has the CPU then; the rest follows
 * when that sleeps again. */
static void test_preempted(void **state)
{
    unsigned n = 0;
    bool left = true;

    (void)state;
    for (; left && n < MANY; n++) {
        set_up(true);
        high = world_process(0, 50, DATA);
        sleeps(high);
        windows = 0;
        act_at = n;
        fake_irq_window = wakes_high;
        enter(destroyer, KER_CHANNEL_DESTROY, 1, 0, 0, 0);
        fake_irq_window = NULL;
        left = high->state == STATE_RUNNING;
        if (left) {
            sleeps(high);
        }
        world_settle();
        check_heard(NULL, true);
        tear_down();
    }
    assert_in_range(n, 10, MANY - 1);
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
