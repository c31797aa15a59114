/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mutexes: hand-over by priority, inheritance through chains and rings, timeouts, ends of owners
 * and waiters, words that user code changes at the same time.
 */
#include "test/kernel/sync/sync_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "abi/sys/ability.h"

static void test_lock(void **state)
{
    (void)state;
    assert_int_equal(lock(t[1], 0), 0);
    assert_int_equal(word(MUTEX(0)), 2);
    assert_int_equal(lock(t[1], 0), -EDEADLK);
    assert_int_equal(unlock(t[2], 0), -EPERM);
    assert_int_equal(lock(t[2], 0), BLOCKED);
    assert_int_equal(word(MUTEX(0)), 2 | SYNC_WAITING);
    assert_int_equal(unlock(t[1], 0), 0);
    assert_int_equal(world_result(t[2]), 0);
    assert_int_equal(word(MUTEX(0)), 3);
    assert_int_equal(unlock(t[2], 0), 0);
    assert_int_equal(word(MUTEX(0)), 0);
    assert_int_equal(unlock(t[2], 0), -EPERM);
}

/* The highest first, whenever it came. */
static void test_order(void **state)
{
    (void)state;
    static const int came[] = {2, 3, 1}, got[] = {3, 2, 1};
    assert_int_equal(lock(t[0], 0), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(lock(t[came[i]], 0), BLOCKED);
    }
    assert_int_equal(t[0]->priority, 40);
    struct thread *owner = t[0];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(unlock(owner, 0), 0);
        assert_int_equal(owner->priority, owner->base_priority);
        owner = t[got[i]];
        assert_int_equal(world_result(owner), 0);
        assert_int_equal(word(MUTEX(0)), (uint32_t)owner->tid | (i < 2 ? SYNC_WAITING : 0));
    }
}

static void set_priority(struct thread *by, const struct thread *of, int priority)
{
    ((struct sched_param_kymo *)world_at(by, AT(5)))->sched_priority = priority;
    assert_int_equal(CALL(by, SCHED_SET, 0, (uintptr_t)of->tid, SCHED_RR, AT(5)), 0);
}

/* Equals in the order in which they came; a change of priority moves a waiter. */
static void test_order_changes(void **state)
{
    (void)state;
    set_priority(t[0], t[1], 20);
    set_priority(t[0], t[2], 20);
    lock(t[0], 0);
    assert_int_equal(lock(t[2], 0), BLOCKED);
    assert_int_equal(lock(t[1], 0), BLOCKED);
    assert_int_equal(lock(t[3], 0), BLOCKED);
    set_priority(t[0], t[3], 55);
    assert_int_equal(t[0]->priority, 55);
    set_priority(t[0], t[3], 5);
    assert_int_equal(t[0]->priority, 20);
    unlock(t[0], 0);
    assert_int_equal(world_result(t[2]), 0);
    unlock(t[2], 0);
    assert_int_equal(world_result(t[1]), 0);
    unlock(t[1], 0);
    assert_int_equal(world_result(t[3]), 0);
}

/* 0 has m0; 1 has m1 and wants m0; 2 has m2 and wants m1: the last one's priority reaches all. */
static void chain(void)
{
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(lock(t[i], i), 0);
    }
    for (unsigned i = 1; i < THREADS - 1; i++) {
        assert_int_equal(lock(t[i], i - 1), BLOCKED);
    }
}

static void test_chain(void **state)
{
    (void)state;
    chain();
    assert_int_equal(t[0]->priority, 30);
    assert_int_equal(lock(t[3], 2), BLOCKED);
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(t[i]->priority, 40);
    }
    /* it goes back as the chain dissolves from its root */
    for (unsigned i = 0; i < THREADS - 1; i++) {
        assert_int_equal(unlock(t[i], i), 0);
        assert_int_equal(t[i]->priority, 10 * (i + 1));
        assert_int_equal(world_result(t[i + 1]), 0);
    }
}

/* From its end: who gives up takes its priority away from the whole chain. */
static void test_chain_timeout(void **state)
{
    (void)state;
    chain();
    limit(t[3], _NTO_TIMEOUT_MUTEX, 1000000);
    assert_int_equal(lock(t[3], 2), BLOCKED);
    assert_int_equal(t[0]->priority, 40);
    world_advance(2000000);
    assert_int_equal(world_result(t[3]), -ETIMEDOUT);
    for (unsigned i = 0; i < THREADS - 1; i++) {
        assert_int_equal(t[i]->priority, 30);
    }
    CALL(t[3], THREAD_DESTROY, 3, 0, 0); /* t[2], in the middle */
    assert_int_equal(t[0]->priority, 20);
    assert_int_equal(t[1]->priority, 20);
}

/* A ring: each waits for the next. Nobody gets anything, but all can leave at any time. */
static void ring(void)
{
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(lock(t[i], i), 0);
    }
    limit(t[0], _NTO_TIMEOUT_MUTEX, 3000000);
    assert_int_equal(lock(t[0], 1), BLOCKED);
    assert_int_equal(lock(t[1], 2), BLOCKED);
    assert_int_equal(lock(t[2], 0), BLOCKED);
    assert_int_equal(t[0]->priority, 30);
    limit(t[3], _NTO_TIMEOUT_MUTEX, 1000000);
    assert_int_equal(lock(t[3], 0), BLOCKED);
    assert_int_equal(t[1]->priority, 40);
    world_advance(2000000);
    assert_int_equal(world_result(t[3]), -ETIMEDOUT);
}

/* One leaves: what it inherited from itself, around the ring, goes with it. */
static void test_ring_timeout(void **state)
{
    (void)state;
    ring();
    world_advance(2000000);
    assert_int_equal(world_result(t[0]), -ETIMEDOUT);
    assert_int_equal(unlock(t[0], 0), 0);
    assert_int_equal(world_result(t[2]), 0);
    assert_int_equal(unlock(t[2], 2), 0);
    assert_int_equal(world_result(t[1]), 0);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(t[i]->priority, 10 * (i + 1));
    }
}

static void test_ring_destroyed(void **state)
{
    (void)state;
    for (unsigned victim = 0; victim < 3; victim++) {
        ring();
        CALL(t[3], THREAD_DESTROY, (uintptr_t)t[victim]->tid, 0, 0);
        world_teardown(state);
        setup(state);
    }
    ring();
    CALL(t[3], SYNC_DESTROY, MUTEX(1));
    assert_int_equal(world_result(t[0]), -EINVAL);
    CALL(t[3], SYNC_DESTROY, MUTEX(2));
    assert_int_equal(world_result(t[1]), -EINVAL);
}

/* The program frees a mutex by hand while others wait for it: they wait for who takes it next. */
static void test_freed_by_hand(void **state)
{
    (void)state;
    lock(t[0], 0);
    assert_int_equal(lock(t[2], 0), BLOCKED);
    assert_int_equal(lock(t[3], 0), BLOCKED);
    set_word(MUTEX(0), 0);
    assert_int_equal(lock(t[1], 0), 0);
    assert_int_equal(word(MUTEX(0)), 2 | SYNC_WAITING);
    assert_int_equal(t[0]->priority, 10);
    assert_int_equal(t[1]->priority, 40);
    assert_int_equal(unlock(t[0], 0), -EPERM);
    assert_int_equal(unlock(t[1], 0), 0);
    assert_int_equal(world_result(t[3]), 0);
    assert_int_equal(t[1]->priority, 20);
}

/* The owner waits for a message's reply: its server is raised too, and across processes. */
static void test_through_messages(void **state)
{
    (void)state;
    CALL(t[0], INTERRUPT_WAIT, 0, 0); /* a CPU for the server */
    struct thread *server = world_process(0, 5, DATA);
    CALL(server, CHANNEL_CREATE, 0);
    assert_int_equal(CALL(t[1], CONNECT_ATTACH, 0, (uintptr_t)server->proc->pid, 1, 0, 0), 0);
    lock(t[1], 0);
    assert_int_equal(CALL(t[1], MSG_SENDV, 0, AT(0), LEN(8), 0, 0), BLOCKED);
    uintptr_t rcvid = (uintptr_t)CALL(server, MSG_RECEIVEV, 1, AT(0), LEN(8), 0);
    assert_int_equal(server->priority, 20);
    assert_int_equal(lock(t[3], 0), BLOCKED);
    assert_int_equal(t[1]->priority, 40);
    assert_int_equal(server->priority, 40);
    assert_int_equal(CALL(server, MSG_REPLYV, rcvid, 0, 0, 0), 0);
    assert_int_equal(unlock(t[1], 0), 0);
    assert_int_equal(t[1]->priority, 20);
    assert_int_equal(world_result(t[3]), 0);
}

/* An owner ends: those that wait hear it, and so does who comes later. */
static void test_owner_ends(void **state)
{
    (void)state;
    lock(t[1], 0);
    lock(t[1], 1);
    assert_int_equal(lock(t[2], 0), BLOCKED);
    assert_int_equal(lock(t[3], 0), BLOCKED);
    CALL(t[0], THREAD_DESTROY, 2, 0, 0);
    assert_int_equal(world_result(t[2]), -EINVAL);
    assert_int_equal(world_result(t[3]), -EINVAL);
    assert_int_equal(word(MUTEX(0)), SYNC_OWNER_DEAD);
    assert_int_equal(lock(t[2], 0), -EINVAL);
    assert_int_equal(unlock(t[2], 0), -EPERM);
    assert_int_equal(lock(t[2], 1), -EINVAL); /* nobody waited: found out now */
    assert_int_equal(word(MUTEX(1)), SYNC_OWNER_DEAD);
    assert_int_equal(CALL(t[2], SYNC_CREATE, SYNC_MUTEX_FREE, MUTEX(0), 0), 0);
    assert_int_equal(lock(t[2], 0), 0);
}

static void test_mutex_timeout(void **state)
{
    (void)state;
    lock(t[1], 0);
    limit(t[2], _NTO_TIMEOUT_MUTEX, 0);
    assert_int_equal(lock(t[2], 0), -ETIMEDOUT);
    limit(t[2], _NTO_TIMEOUT_MUTEX, 1000000);
    assert_int_equal(lock(t[2], 0), BLOCKED);
    world_advance(900000);
    assert_int_equal(world_result(t[2]), BLOCKED);
    world_advance(200000);
    assert_int_equal(world_result(t[2]), -ETIMEDOUT);
    assert_int_equal(t[1]->priority, 20);
    /* the bit stays, the next unlock clears it */
    assert_int_equal(word(MUTEX(0)), 2 | SYNC_WAITING);
    assert_int_equal(unlock(t[1], 0), 0);
    assert_int_equal(word(MUTEX(0)), 0);
    /* a limit that was not needed does not stay */
    limit(t[2], _NTO_TIMEOUT_MUTEX, 1000000);
    assert_int_equal(lock(t[2], 0), 0);
    assert_int_equal(lock(t[3], 0), BLOCKED);
    unlock(t[2], 0);
    assert_int_equal(lock(t[2], 0), BLOCKED);
    world_advance(2000000);
    assert_int_equal(t[2]->state, STATE_MUTEX);
}

/* An owner's end leaves a mutex that one thread gets by reviving it; the others wait for that one,
 * and lend it their priority. */
static void test_revive(void **state)
{
    (void)state;
    sync_t *sync = world_at(t[0], MUTEX(0));
    static const uint32_t living[] = {0,
                                      1,
                                      2,
                                      SYNC_WAITING | 1,
                                      SYNC_OWNER_DESTROYED,
                                      SYNC_OWNER_COND,
                                      SYNC_OWNER_SEM,
                                      0x10002,
                                      SYNC_WAITING};
    for (unsigned i = 0; i < sizeof(living) / sizeof(living[0]); i++) {
        set_word(MUTEX(0), living[i]);
        assert_int_equal(CALL(t[1], SYNC_MUTEX_REVIVE, MUTEX(0)), -EINVAL);
        assert_int_equal(sync->owner, living[i]);
    }
    set_word(MUTEX(0), 0);
    sync->count = SYNC_COUNT_RECURSIVE | SYNC_COUNT_ROBUST | 3;
    assert_int_equal(lock(t[0], 0), 0);
    assert_int_equal(lock(t[1], 0), BLOCKED);
    assert_int_equal(lock(t[2], 0), BLOCKED);
    CALL(t[0], THREAD_DESTROY, 0, 0, 0);
    assert_int_equal(world_result(t[1]), -EINVAL);
    assert_int_equal(world_result(t[2]), -EINVAL);
    assert_int_equal(CALL(t[2], SYNC_MUTEX_REVIVE, MUTEX(0)), 0);
    sync = world_at(t[2], MUTEX(0));
    assert_int_equal(sync->owner, t[2]->tid);
    assert_int_equal(sync->count, SYNC_COUNT_RECURSIVE | SYNC_COUNT_ROBUST);
    assert_int_equal(CALL(t[1], SYNC_MUTEX_REVIVE, MUTEX(0)), -EINVAL);
    assert_int_equal(lock(t[3], 0), BLOCKED);
    assert_int_equal(t[2]->sync_priority, t[3]->priority);
    assert_int_equal(unlock(t[2], 0), 0);
    assert_int_equal(world_result(t[3]), 0);
    /* Nobody has found out: the word still has the tid of a thread that is gone. */
    set_word(MUTEX(0), 5555);
    assert_int_equal(CALL(t[1], SYNC_MUTEX_REVIVE, MUTEX(0)), 0);
}

static void test_wrong(void **state)
{
    (void)state;
    static const unsigned numbers[] = {
        KER_SYNC_MUTEX_LOCK, KER_SYNC_MUTEX_UNLOCK, KER_SYNC_MUTEX_REVIVE,  KER_SYNC_SEM_POST,
        KER_SYNC_SEM_WAIT,   KER_SYNC_DESTROY,      KER_SYNC_CONDVAR_SIGNAL};
    for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        const uintptr_t bad[] = {NOWHERE, RO, RO - 4, 0, (uintptr_t)0 - 4};
        for (unsigned n = 0; n < sizeof(bad) / sizeof(bad[0]); n++) {
            assert_int_equal(world_call(t[1], numbers[i], (uintptr_t[6]){bad[n]}), -EFAULT);
        }
        for (unsigned n = 1; n < 4; n++) {
            assert_int_equal(world_call(t[1], numbers[i], (uintptr_t[6]){MUTEX(0) + n}), -EINVAL);
        }
    }
    static const uint32_t owners[] = {
        SYNC_OWNER_DEAD, SYNC_OWNER_DESTROYED, SYNC_OWNER_COND,  SYNC_OWNER_SEM, 99,
        0x10002,         SYNC_WAITING,         SYNC_WAITING | 77};
    for (unsigned i = 0; i < sizeof(owners) / sizeof(owners[0]); i++) {
        set_word(MUTEX(0), owners[i]);
        assert_int_equal(lock(t[1], 0), -EINVAL);
    }
    set_word(MUTEX(0), SYNC_OWNER_DESTROYED);
    assert_int_equal(unlock(t[1], 0), -EINVAL);
    assert_int_equal(CALL(t[1], SYNC_DESTROY, MUTEX(0)), -EINVAL);
    assert_int_equal(CALL(t[1], SYNC_CREATE, 3, MUTEX(0), 0), -EINVAL);
    assert_int_equal(CALL(t[1], SYNC_CREATE, 0, MUTEX(0) + 2, 0), -EINVAL);
    assert_int_equal(CALL(t[1], SYNC_CREATE, 0, RO, 0), -EFAULT);
    ((sync_t *)world_at(t[0], MUTEX(0)))->count = -1;
    assert_int_equal(CALL(t[1], SYNC_CREATE, SYNC_SEM, MUTEX(0), 0), -EINVAL);
    assert_int_equal(CALL(t[1], SYNC_CTL, 1, MUTEX(0), 0), -ENOTSUP);
}

static volatile uint32_t *raced;
static uint32_t race_to;
static unsigned races;

static void race(volatile uint32_t *p)
{
    if (p == raced && races > 0) {
        races--;
        *p = *p == race_to ? 0 : race_to;
    }
}

static void start_race(uintptr_t mutex, uint32_t to, unsigned times)
{
    raced = &((sync_t *)world_at(t[0], mutex))->owner;
    race_to = to;
    races = times;
    fake_before_cas = race;
}

/* The owner lets go just before the kernel says that somebody waits. */
static void test_race_unlock(void **state)
{
    (void)state;
    set_word(MUTEX(0), (uint32_t)t[1]->tid);
    start_race(MUTEX(0), (uint32_t)t[1]->tid, 1);
    assert_int_equal(lock(t[2], 0), 0);
    assert_int_equal(word(MUTEX(0)), 3);
}

/* Another takes it just before the kernel does. */
static void test_race_lock(void **state)
{
    (void)state;
    start_race(MUTEX(0), (uint32_t)t[1]->tid, 1);
    assert_int_equal(lock(t[2], 0), BLOCKED);
    assert_int_equal(word(MUTEX(0)), 2 | SYNC_WAITING);
    fake_before_cas = NULL;
    assert_int_equal(unlock(t[1], 0), 0);
    assert_int_equal(world_result(t[2]), 0);
}

/* However long it goes on, it ends well: also for one that comes from a condition variable. */
static void test_race_long(void **state)
{
    (void)state;
    for (unsigned times = 14; times < 100; times += 17) {
        set_word(MUTEX(0), 0);
        start_race(MUTEX(0), (uint32_t)t[1]->tid, times);
        long r = lock(t[2], 0);
        fake_before_cas = NULL;
        if (r == BLOCKED) {
            assert_int_equal(unlock(t[1], 0), 0);
        }
        assert_int_equal(world_result(t[2]), 0);
        assert_int_equal(CALL(t[2], SYNC_CONDVAR_WAIT, CONDVAR, MUTEX(0)), BLOCKED);
        start_race(MUTEX(0), (uint32_t)t[1]->tid, times);
        assert_int_equal(CALL(t[3], SYNC_CONDVAR_SIGNAL, CONDVAR, 0), 0);
        fake_before_cas = NULL;
        if (t[2]->state == STATE_MUTEX) {
            assert_int_equal(unlock(t[1], 0), 0);
        }
        assert_int_equal(world_result(t[2]), 0);
        assert_int_equal(word(MUTEX(0)), 3);
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, world_teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_revive),        CASE(test_lock),
        CASE(test_order),         CASE(test_order_changes),
        CASE(test_chain),         CASE(test_chain_timeout),
        CASE(test_ring_timeout),  CASE(test_ring_destroyed),
        CASE(test_freed_by_hand), CASE(test_through_messages),
        CASE(test_owner_ends),    CASE(test_mutex_timeout),
        CASE(test_wrong),         CASE(test_race_unlock),
        CASE(test_race_lock),     CASE(test_race_long),
    };
    return cmocka_run_group_tests(tests, world_group, NULL);
}
