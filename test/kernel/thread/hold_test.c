/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that are held by ThreadCtl(): in each state, while what they wait for happens, twice, by
 * themselves, on another CPU; their priorities, time limits and ends. random_test holds and
 * continues threads at random.
 */
#include "test/kernel/world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/base/cpu.h"

#define SYNC AT(4)
#define STUB 0x12340u

static struct thread *a, *b, *c; /* of one process: tid 1, 2, 3 */

static int setup(void **state)
{
    (void)state;
    a = world_process(0, 10, DATA);
    b = world_thread(a, 10);
    c = world_thread(a, 10);
    return 0;
}

static void hold(int tid)
{
    assert_int_equal(CALL(a, THREAD_CTL, _NTO_TCTL_ONE_THREAD_HOLD, (uintptr_t)tid), 0);
    world_check();
}

static void cont(int tid)
{
    assert_int_equal(CALL(a, THREAD_CTL, _NTO_TCTL_ONE_THREAD_CONT, (uintptr_t)tid), 0);
    world_check();
}

/* It runs on a CPU of its own until then. */
static void test_running(void **state)
{
    (void)state;
    assert_int_equal(b->state, STATE_RUNNING);
    assert_int_not_equal(world_cpu_of(b), world_cpu_of(a));
    hold(2);
    assert_int_equal(b->state, STATE_STOPPED);
    assert_int_equal(world_cpu_of(b), -1);
    world_advance(50000000);
    assert_int_equal(b->state, STATE_STOPPED);
    cont(2);
    assert_int_equal(b->state, STATE_RUNNING);
    assert_int_equal(CALL(b, NOP, 0), 0);
}

/* On the only CPU it is READY. */
static void test_ready(void **state)
{
    (void)state;
    CALL(a, THREAD_CTL, _NTO_TCTL_RUNMASK, 1);
    CALL(b, THREAD_CTL, _NTO_TCTL_RUNMASK, 1);
    struct thread *runs = a->state == STATE_RUNNING ? a : b, *other = runs == a ? b : a;
    assert_int_equal(other->state, STATE_READY);
    assert_int_equal(CALL(runs, THREAD_CTL, _NTO_TCTL_ONE_THREAD_HOLD, (uintptr_t)other->tid), 0);
    world_check();
    assert_int_equal(other->state, STATE_STOPPED);
    assert_int_equal(CALL(runs, SCHED_YIELD, 0), 0);
    assert_int_equal(runs->state, STATE_RUNNING);
    assert_int_equal(CALL(runs, THREAD_CTL, _NTO_TCTL_ONE_THREAD_CONT, (uintptr_t)other->tid), 0);
    assert_int_equal(other->state, STATE_READY);
}

static void test_wrong(void **state)
{
    (void)state;
    assert_int_equal(CALL(a, THREAD_CTL, _NTO_TCTL_ONE_THREAD_HOLD, 0), -ESRCH);
    assert_int_equal(CALL(a, THREAD_CTL, _NTO_TCTL_ONE_THREAD_HOLD, 4), -ESRCH);
    assert_int_equal(CALL(a, THREAD_CTL, _NTO_TCTL_ONE_THREAD_CONT, 99), -ESRCH);
    assert_int_equal(CALL(a, THREAD_CTL, _NTO_TCTL_ONE_THREAD_CONT, 2), 0); /* is not held */
    CALL(b, THREAD_DESTROY, 0, 0, 0);
    assert_int_equal(b->state, STATE_DEAD);
    assert_int_equal(CALL(a, THREAD_CTL, _NTO_TCTL_ONE_THREAD_HOLD, 2), -ESRCH);
    assert_int_equal(CALL(a, THREAD_CTL, _NTO_TCTL_THREADS_HOLD, 0), 0);
    assert_int_equal(CALL(a, THREAD_CTL, _NTO_TCTL_THREADS_CONT, 0), 0);
}

/* Holds are not counted. */
static void test_twice(void **state)
{
    (void)state;
    hold(2);
    hold(2);
    cont(2);
    assert_int_equal(b->state, STATE_RUNNING);
    cont(2);
    assert_int_equal(CALL(b, NOP, 0), 0);
}

/* A thread that holds itself: the call returns when another one continues it. */
static void test_self(void **state)
{
    (void)state;
    assert_int_equal(CALL(b, THREAD_CTL, _NTO_TCTL_ONE_THREAD_HOLD, 2), BLOCKED);
    assert_int_equal(b->state, STATE_STOPPED);
    cont(2);
    assert_int_equal(world_result(b), 0);
    assert_int_equal(CALL(b, NOP, 0), 0);
}

static void test_all(void **state)
{
    (void)state;
    assert_int_equal(CALL(a, THREAD_CTL, _NTO_TCTL_THREADS_HOLD, 0), 0);
    world_check();
    assert_int_equal(a->state, STATE_RUNNING);
    assert_int_equal(b->state, STATE_STOPPED);
    assert_int_equal(c->state, STATE_STOPPED);
    cont(3);
    assert_int_equal(c->state, STATE_RUNNING);
    assert_int_equal(CALL(c, THREAD_CTL, _NTO_TCTL_THREADS_CONT, 0), 0);
    assert_int_equal(b->state, STATE_RUNNING);
}

/* ---- in messages ------------------------------------------------------------------- */

static struct thread *client;
static uintptr_t chid, coid;

static void connect(int priority)
{
    client = world_process(0, priority, DATA);
    chid = (uintptr_t)CALL(b, CHANNEL_CREATE, 0);
    coid = (uintptr_t)CALL(client, CONNECT_ATTACH, 0, (uintptr_t)a->proc->pid, chid, 0, 0);
}

#define SEND() CALL(client, MSG_SENDV, coid, AT(1), LEN(8), AT(2), LEN(8))
#define RECEIVE() CALL(b, MSG_RECEIVEV, chid, AT(1), LEN(8), 0)

/* Held in RECEIVE: the message arrives, its receiver stops with it, the client waits for
 * a reply. */
static void test_receive(void **state)
{
    (void)state;
    connect(20);
    assert_int_equal(RECEIVE(), BLOCKED);
    hold(2);
    assert_int_equal(b->state, STATE_RECEIVE);
    assert_int_equal(SEND(), BLOCKED);
    world_check();
    assert_int_equal(client->state, STATE_REPLY);
    assert_int_equal(b->state, STATE_STOPPED);
    assert_int_equal(b->priority, 20); /* inherited */
    cont(2);
    assert_int_equal(world_result(b), client->rcvid);
    assert_int_equal(CALL(b, MSG_REPLYV, (uintptr_t)client->rcvid, 7, 0, 0), 0);
    assert_int_equal(world_result(client), 7);
}

/* The same with a message that is copied in pieces: all of it arrives when it continues. */
static void test_receive_long(void **state)
{
    (void)state;
    enum { BYTES = 0x1000 };
    connect(20);
    memset(world_at(client, AT(16)), 0x5a, BYTES);
    assert_int_equal(CALL(b, MSG_RECEIVEV, chid, AT(16), LEN(BYTES), 0), BLOCKED);
    hold(2);
    assert_int_equal(CALL(client, MSG_SENDV, coid, AT(16), LEN(BYTES), AT(2), LEN(8)), BLOCKED);
    world_check();
    assert_int_equal(b->state, STATE_STOPPED);
    cont(2);
    assert_int_equal(world_result(b), client->rcvid);
    assert_memory_equal(world_at(b, AT(16)), world_at(client, AT(16)), BYTES);
}

/* Held in SEND and in REPLY: the server goes on as if nothing were. */
static void test_client(void **state)
{
    (void)state;
    connect(10);
    struct thread *other = world_thread(client, 10);
    for (int when = 0; when < 2; when++) {
        if (when == 1) {
            assert_int_equal(RECEIVE(), BLOCKED);
        }
        assert_int_equal(SEND(), BLOCKED);
        assert_int_equal(client->state, when ? STATE_REPLY : STATE_SEND);
        assert_int_equal(CALL(other, THREAD_CTL, _NTO_TCTL_ONE_THREAD_HOLD, 1), 0);
        world_check();
        assert_int_equal(when ? world_result(b) : RECEIVE(), client->rcvid);
        assert_int_equal(client->state, STATE_REPLY);
        assert_int_equal(CALL(b, MSG_REPLYV, (uintptr_t)client->rcvid, 9, 0, 0), 0);
        world_check();
        assert_int_equal(client->state, STATE_STOPPED);
        assert_int_equal(CALL(other, THREAD_CTL, _NTO_TCTL_ONE_THREAD_CONT, 1), 0);
        assert_int_equal(world_result(client), 9);
    }
}

static void test_pulse(void **state)
{
    (void)state;
    connect(10);
    assert_int_equal(RECEIVE(), BLOCKED);
    hold(2);
    assert_int_equal(CALL(client, MSG_SEND_PULSE, coid, (uintptr_t)-1, 5, 6), 0);
    assert_int_equal(b->state, STATE_STOPPED);
    cont(2);
    assert_int_equal(world_result(b), 0);
}

/* ---- at a mutex -------------------------------------------------------------------- */

/* The owner is held: the one that waits lends it its priority, and waits on. */
static void test_owner(void **state)
{
    (void)state;
    struct thread *high = world_thread(a, 30);
    assert_int_equal(CALL(b, SYNC_MUTEX_LOCK, SYNC), 0);
    hold(2);
    assert_int_equal(CALL(high, SYNC_MUTEX_LOCK, SYNC), BLOCKED);
    world_check();
    assert_int_equal(b->state, STATE_STOPPED);
    assert_int_equal(b->priority, 30);
    cont(2);
    assert_int_equal(CALL(b, SYNC_MUTEX_UNLOCK, SYNC), 0);
    assert_int_equal(b->priority, 10);
    assert_int_equal(world_result(high), 0);
}

/* Held while it waits: the mutex becomes its own, and it stops with it. */
static void test_mutex_waiter(void **state)
{
    (void)state;
    assert_int_equal(CALL(a, SYNC_MUTEX_LOCK, SYNC), 0);
    assert_int_equal(CALL(b, SYNC_MUTEX_LOCK, SYNC), BLOCKED);
    hold(2);
    assert_int_equal(b->state, STATE_MUTEX);
    assert_int_equal(CALL(a, SYNC_MUTEX_UNLOCK, SYNC), 0);
    world_check();
    assert_int_equal(b->state, STATE_STOPPED);
    assert_int_equal(CALL(c, SYNC_MUTEX_LOCK, SYNC), BLOCKED);
    cont(2);
    assert_int_equal(world_result(b), 0);
    assert_int_equal(CALL(b, SYNC_MUTEX_UNLOCK, SYNC), 0);
    assert_int_equal(world_result(c), 0);
}

/* ---- limits and ends --------------------------------------------------------------- */

static void test_limit(void **state)
{
    (void)state;
    uint64_t *ns = world_at(a, AT(1));
    *ns = 1000000;
    for (int passes = 0; passes < 2; passes++) {
        assert_int_equal(CALL(b, TIMER_TIMEOUT, 2, _NTO_TIMEOUT_JOIN, 0, AT(1), 0), 0);
        assert_int_equal(CALL(b, THREAD_JOIN, 3, 0), BLOCKED);
        hold(2);
        if (passes) {
            world_advance(2000000);
            assert_int_equal(b->state, STATE_STOPPED);
        }
        cont(2);
        assert_int_equal(b->state, passes ? STATE_RUNNING : STATE_JOIN);
        world_advance(2000000);
        assert_int_equal(world_result(b), -ETIMEDOUT);
    }
    /* a limit that no call has used is not used by the next one after a hold of itself */
    assert_int_equal(CALL(b, TIMER_TIMEOUT, 2, _NTO_TIMEOUT_JOIN, 0, AT(1), 0), 0);
    assert_int_equal(CALL(b, THREAD_CTL, _NTO_TCTL_ONE_THREAD_HOLD, 2), BLOCKED);
    cont(2);
    assert_int_equal(CALL(b, THREAD_JOIN, 3, 0), BLOCKED);
    world_advance(2000000);
    assert_int_equal(world_result(b), BLOCKED);
}

static void test_cancel(void **state)
{
    (void)state;
    assert_int_equal(CALL(b, THREAD_JOIN, 3, 0), BLOCKED);
    hold(2);
    assert_int_equal(CALL(a, THREAD_CANCEL, 2, STUB), 0);
    assert_int_equal(b->state, STATE_STOPPED);
    cont(2);
    assert_int_equal(world_result(b), -EINTR);
}

/* Held in each way, then ended: nothing is left, and who joins it hears of it. */
static void test_destroy(void **state)
{
    (void)state;
    for (int way = 0; way < 3; way++) {
        if (way == 1) {
            assert_int_equal(CALL(b, SYNC_MUTEX_LOCK, SYNC), 0);
        } else if (way == 2) {
            assert_int_equal(CALL(b, INTERRUPT_WAIT, 0, 0), BLOCKED);
        }
        hold(b->tid);
        assert_int_equal(CALL(c, THREAD_JOIN, (uintptr_t)b->tid, 0), BLOCKED);
        assert_int_equal(CALL(a, THREAD_DESTROY, (uintptr_t)b->tid, 0, 5), 0);
        world_check();
        assert_int_equal(world_result(c), 0);
        b = world_thread(a, 10);
        assert_int_equal(b->state, STATE_RUNNING); /* a new one, which nobody holds */
    }
    hold(b->tid);
    const int pid = a->proc->pid;
    world_kill(a->proc);
    assert_null(process_find(pid));
}

/* ---- between two CPUs -------------------------------------------------------------- */

/* Held while it runs on another CPU, on its way into a call: whatever the call does, it stops. */
static void test_on_its_way(void **state)
{
    (void)state;
    static const struct {
        unsigned number;
        uintptr_t args[6];
        unsigned state;
    } rows[] = {
        {KER_NOP, {0}, STATE_STOPPED},
        {KER_SCHED_YIELD, {0}, STATE_STOPPED},
        {KER_INTERRUPT_WAIT, {0}, STATE_INTR},
        {KER_THREAD_JOIN, {3}, STATE_JOIN},
        {KER_SYNC_MUTEX_LOCK, {SYNC}, STATE_STOPPED},
        {KER_TIMER_TIMEOUT, {2, _NTO_TIMEOUT_JOIN, 0, AT(1), 0}, STATE_STOPPED},
        {KER_THREAD_CTL, {_NTO_TCTL_ONE_THREAD_HOLD, 2}, STATE_STOPPED},
        {KER_THREAD_CTL, {_NTO_TCTL_ONE_THREAD_CONT, 2}, STATE_RUNNING},
    };
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        world_enter(a, KER_THREAD_CTL, (uintptr_t[6]){_NTO_TCTL_ONE_THREAD_HOLD, 2});
        world_enter(b, rows[i].number, rows[i].args);
        world_settle();
        world_check();
        assert_int_equal(b->state, rows[i].state);
        cont(2);
        world_kill(a->proc);
        setup(state);
    }
}

/* The same where another thread of its priority is READY: it gives way, and stops. */
static void test_gives_way(void **state)
{
    (void)state;
    struct thread *equal = world_thread(a, 10);
    uint32_t cpu = 1u << world_cpu_of(b);
    assert_int_equal(CALL(b, THREAD_CTL, _NTO_TCTL_RUNMASK, cpu), 0);
    assert_int_equal(CALL(equal, THREAD_CTL, _NTO_TCTL_RUNMASK, cpu), 0);
    if (b->state != STATE_RUNNING) {
        assert_int_equal(CALL(equal, SCHED_YIELD, 0), 0);
    }
    assert_int_equal(b->state, STATE_RUNNING);
    assert_int_equal(equal->state, STATE_READY);
    world_enter(a, KER_THREAD_CTL, (uintptr_t[6]){_NTO_TCTL_ONE_THREAD_HOLD, 2});
    world_enter(b, KER_SCHED_YIELD, (uintptr_t[6]){0});
    world_settle();
    world_check();
    assert_int_equal(b->state, STATE_STOPPED);
    assert_int_equal(CALL(equal, SCHED_YIELD, 0), 0);
    assert_int_equal(equal->state, STATE_RUNNING);
    cont(2);
    assert_int_equal(b->state, STATE_READY);
}

static void holds_b(void)
{
    fake_lock_window = NULL;
    world_enter(a, KER_THREAD_CTL, (uintptr_t[6]){_NTO_TCTL_ONE_THREAD_HOLD, 2});
}

/* Held between two steps of a long call: the call is interrupted, which its event says, and ends
 * when the thread continues. */
static void test_amid_a_call(void **state)
{
    const unsigned *events = &fake_events[TRACE_EV_kercall_int], before = *events;

    (void)state;
    fake_lock_window = holds_b;
    fake_lock_wanted = true;
    world_enter(b, KER_MEM_MAP, (uintptr_t[6]){256, KYMO_PROT_READ, 3});
    world_settle();
    fake_lock_wanted = false;
    world_check();
    assert_int_equal(b->state, STATE_STOPPED);
    assert_int_equal(*events, before + 1);
    cont(2);
    assert_true(world_result(b) > 0);
    assert_int_equal(*events, before + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(test_##name, setup, world_teardown)
        T(running), T(ready),        T(wrong),   T(twice),      T(self),      T(all),
        T(receive), T(receive_long), T(client),  T(pulse),      T(owner),     T(mutex_waiter),
        T(limit),   T(cancel),       T(destroy), T(on_its_way), T(gives_way), T(amid_a_call),
#undef T
    };
    return cmocka_run_group_tests(tests, world_group, NULL);
}
