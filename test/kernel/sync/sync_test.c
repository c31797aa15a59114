/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Condition variables and semaphores: hand-over by priority, timeouts, ends of owners and waiters,
 * words that user code changes at the same time.
 */
#include "test/kernel/sync/sync_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "abi/sys/ability.h"

/* ---- condition variables ----------------------------------------------------------- */

static long wait_condvar(struct thread *thread)
{
    assert_int_equal(lock(thread, 0), 0);
    return CALL(thread, SYNC_CONDVAR_WAIT, CONDVAR, MUTEX(0));
}

static void test_condvar(void **state)
{
    (void)state;
    assert_int_equal(wait_condvar(t[1]), BLOCKED);
    assert_int_equal(word(MUTEX(0)), 0);
    assert_int_equal(CALL(t[0], SYNC_CONDVAR_SIGNAL, CONDVAR, 0), 0);
    assert_int_equal(world_result(t[1]), 0);
    assert_int_equal(word(MUTEX(0)), 2);
    unlock(t[1], 0);
    /* a signal that nobody waits for is gone */
    assert_int_equal(CALL(t[0], SYNC_CONDVAR_SIGNAL, CONDVAR, 0), 0);
    assert_int_equal(wait_condvar(t[1]), BLOCKED);
}

/* All are woken, and go through the mutex one after the other, the highest first. */
static void test_broadcast(void **state)
{
    (void)state;
    for (int i = 1; i < 4; i++) {
        assert_int_equal(wait_condvar(t[i]), BLOCKED);
    }
    lock(t[0], 0);
    assert_int_equal(CALL(t[0], SYNC_CONDVAR_SIGNAL, CONDVAR, 1), 0);
    assert_int_equal(t[0]->priority, 40);
    struct thread *owner = t[0];
    for (int i = 3; i > 0; i--) {
        assert_int_equal(t[i]->state, STATE_MUTEX);
        assert_int_equal(unlock(owner, 0), 0);
        assert_int_equal(world_result(t[i]), 0);
        owner = t[i];
    }
    assert_int_equal(unlock(owner, 0), 0);
    /* one signal, one thread: the highest */
    assert_int_equal(wait_condvar(t[1]), BLOCKED);
    assert_int_equal(wait_condvar(t[2]), BLOCKED);
    assert_int_equal(CALL(t[0], SYNC_CONDVAR_SIGNAL, CONDVAR, 0), 0);
    assert_int_equal(world_result(t[2]), 0);
    assert_int_equal(t[1]->state, STATE_CONDVAR);
}

/* The mutex goes to who waits for it; the giver's inherited priority goes, too. */
static void test_condvar_hands_over(void **state)
{
    (void)state;
    lock(t[1], 0);
    assert_int_equal(lock(t[3], 0), BLOCKED);
    assert_int_equal(t[1]->priority, 40);
    assert_int_equal(CALL(t[1], SYNC_CONDVAR_WAIT, CONDVAR, MUTEX(0)), BLOCKED);
    assert_int_equal(world_result(t[3]), 0);
    assert_int_equal(t[1]->priority, 20);
    assert_int_equal(word(MUTEX(0)), 4);
}

/* With the mutex, whether there was a signal or a timeout. */
static void test_condvar_timeout(void **state)
{
    (void)state;
    for (int both = 0; both < 2; both++) {
        uint32_t states = _NTO_TIMEOUT_CONDVAR | (both ? _NTO_TIMEOUT_MUTEX : 0);
        lock(t[1], 0);
        limit(t[1], states, 1000000);
        assert_int_equal(CALL(t[1], SYNC_CONDVAR_WAIT, CONDVAR, MUTEX(0)), BLOCKED);
        world_advance(2000000);
        assert_int_equal(world_result(t[1]), -ETIMEDOUT);
        assert_int_equal(word(MUTEX(0)), 2);
        unlock(t[1], 0);
        /* the mutex is taken when the time comes */
        lock(t[1], 0);
        limit(t[1], states, 1000000);
        assert_int_equal(CALL(t[1], SYNC_CONDVAR_WAIT, CONDVAR, MUTEX(0)), BLOCKED);
        lock(t[2], 0);
        world_advance(5000000);
        assert_int_equal(t[1]->state, STATE_MUTEX);
        unlock(t[2], 0);
        assert_int_equal(world_result(t[1]), -ETIMEDOUT);
        assert_int_equal(word(MUTEX(0)), 2);
        /* a signal comes in time, the mutex doesn't: it waits as long as that takes */
        limit(t[1], states, 1000000);
        assert_int_equal(CALL(t[1], SYNC_CONDVAR_WAIT, CONDVAR, MUTEX(0)), BLOCKED);
        lock(t[2], 0);
        CALL(t[3], SYNC_CONDVAR_SIGNAL, CONDVAR, 0);
        world_advance(5000000);
        assert_int_equal(t[1]->state, STATE_MUTEX);
        unlock(t[2], 0);
        assert_int_equal(world_result(t[1]), 0);
        assert_int_equal(word(MUTEX(0)), 2);
        /* no time at all: it never gave the mutex up */
        limit(t[1], states, 0);
        assert_int_equal(CALL(t[1], SYNC_CONDVAR_WAIT, CONDVAR, MUTEX(0)), -ETIMEDOUT);
        assert_int_equal(word(MUTEX(0)), 2);
        unlock(t[1], 0);
    }
}

static void test_condvar_cancel(void **state)
{
    (void)state;
    assert_int_equal(wait_condvar(t[1]), BLOCKED);
    assert_int_equal(CALL(t[2], THREAD_CANCEL, 2, 0x100), 0);
    assert_int_equal(world_result(t[1]), -EINTR);
    /* its stub runs with the mutex, as after any return of the call */
    assert_int_equal(word(MUTEX(0)), 2);
}

static void test_condvar_wrong(void **state)
{
    (void)state;
    assert_int_equal(CALL(t[1], SYNC_CONDVAR_WAIT, CONDVAR, MUTEX(0)), -EPERM);
    lock(t[1], 0);
    assert_int_equal(CALL(t[1], SYNC_CONDVAR_WAIT, CONDVAR, RO), -EFAULT);
    assert_int_equal(CALL(t[1], SYNC_CONDVAR_WAIT, RO, MUTEX(0)), -EFAULT);
    assert_int_equal(CALL(t[1], SYNC_CONDVAR_WAIT, CONDVAR + 1, MUTEX(0)), -EINVAL);
    assert_int_equal(CALL(t[1], SYNC_CONDVAR_WAIT, CONDVAR, MUTEX(0) + 2), -EINVAL);
    assert_int_equal(CALL(t[1], SYNC_CONDVAR_WAIT, MUTEX(0), MUTEX(0)), -EINVAL);
    assert_int_equal(CALL(t[1], SYNC_CONDVAR_WAIT, SEMAPHORE, MUTEX(0)), -EINVAL);
    assert_int_equal(CALL(t[1], SYNC_CONDVAR_SIGNAL, SEMAPHORE, 0), -EINVAL);
    /* the mutex is no mutex any more when it should be taken */
    assert_int_equal(CALL(t[1], SYNC_CONDVAR_WAIT, CONDVAR, MUTEX(0)), BLOCKED);
    assert_int_equal(CALL(t[2], SYNC_DESTROY, MUTEX(0)), 0);
    assert_int_equal(CALL(t[2], SYNC_CONDVAR_SIGNAL, CONDVAR, 0), 0);
    assert_int_equal(world_result(t[1]), -EINVAL);
    /* nor is it there */
    uintptr_t mutex = (uintptr_t)CALL(t[1], MEM_MAP, 256, 3);
    assert_int_equal(CALL(t[1], SYNC_MUTEX_LOCK, mutex), 0);
    assert_int_equal(CALL(t[1], SYNC_CONDVAR_WAIT, CONDVAR, mutex), BLOCKED);
    assert_int_equal(CALL(t[2], MEM_UNMAP, mutex, 256), 0);
    assert_int_equal(CALL(t[2], SYNC_CONDVAR_SIGNAL, CONDVAR, 0), 0);
    assert_int_equal(world_result(t[1]), -EFAULT);
    /* the condition variable goes */
    assert_int_equal(lock(t[1], 1), 0);
    assert_int_equal(CALL(t[1], SYNC_CONDVAR_WAIT, CONDVAR, MUTEX(1)), BLOCKED);
    assert_int_equal(CALL(t[2], SYNC_DESTROY, CONDVAR), 0);
    assert_int_equal(world_result(t[1]), -EINVAL);
    assert_int_equal(CALL(t[2], SYNC_CONDVAR_SIGNAL, CONDVAR, 0), -EINVAL);
}

/* ---- semaphores -------------------------------------------------------------------- */

static void test_semaphore(void **state)
{
    (void)state;
    sync_t *sem = world_at(t[0], SEMAPHORE);
    assert_int_equal(CALL(t[1], SYNC_SEM_WAIT, SEMAPHORE, 1), -EAGAIN);
    assert_int_equal(CALL(t[1], SYNC_SEM_POST, SEMAPHORE), 0);
    assert_int_equal(sem->count, 1);
    assert_int_equal(CALL(t[1], SYNC_SEM_WAIT, SEMAPHORE, 1), 0);
    assert_int_equal(sem->count, 0);
    /* the highest first; a post for a waiter is no count */
    assert_int_equal(CALL(t[2], SYNC_SEM_WAIT, SEMAPHORE, 0), BLOCKED);
    assert_int_equal(CALL(t[3], SYNC_SEM_WAIT, SEMAPHORE, 0), BLOCKED);
    assert_int_equal(CALL(t[1], SYNC_SEM_WAIT, SEMAPHORE, 0), BLOCKED);
    for (int i = 3; i > 0; i--) {
        assert_int_equal(CALL(t[0], SYNC_SEM_POST, SEMAPHORE), 0);
        assert_int_equal(world_result(t[i]), 0);
        assert_int_equal(sem->count, 0);
    }
    sem->count = SYNC_SEM_VALUE_MAX - 1;
    assert_int_equal(CALL(t[1], SYNC_SEM_POST, SEMAPHORE), 0);
    assert_int_equal(CALL(t[1], SYNC_SEM_POST, SEMAPHORE), -EOVERFLOW);
    sem->count = -1;
    assert_int_equal(CALL(t[1], SYNC_SEM_POST, SEMAPHORE), -EINVAL);
    assert_int_equal(CALL(t[1], SYNC_SEM_WAIT, SEMAPHORE, 0), -EINVAL);
    assert_int_equal(CALL(t[1], SYNC_SEM_WAIT, MUTEX(0), 0), -EINVAL);
    assert_int_equal(CALL(t[1], SYNC_SEM_POST, CONDVAR), -EINVAL);
}

static void test_semaphore_ends(void **state)
{
    (void)state;
    limit(t[1], _NTO_TIMEOUT_SEM, 0);
    assert_int_equal(CALL(t[1], SYNC_SEM_WAIT, SEMAPHORE, 0), -ETIMEDOUT);
    limit(t[1], _NTO_TIMEOUT_SEM, 1000000);
    assert_int_equal(CALL(t[1], SYNC_SEM_WAIT, SEMAPHORE, 0), BLOCKED);
    world_advance(2000000);
    assert_int_equal(world_result(t[1]), -ETIMEDOUT);
    assert_int_equal(CALL(t[1], SYNC_SEM_WAIT, SEMAPHORE, 0), BLOCKED);
    assert_int_equal(CALL(t[2], THREAD_CANCEL, 2, 0x100), 0);
    assert_int_equal(world_result(t[1]), -EINTR);
    assert_int_equal(CALL(t[1], SYNC_SEM_WAIT, SEMAPHORE, 0), BLOCKED);
    assert_int_equal(CALL(t[2], SYNC_SEM_WAIT, SEMAPHORE, 0), BLOCKED);
    assert_int_equal(CALL(t[3], THREAD_DESTROY, 3, 0, 0), 0);
    assert_int_equal(CALL(t[3], SYNC_SEM_POST, SEMAPHORE), 0);
    assert_int_equal(world_result(t[1]), 0);
    assert_int_equal(CALL(t[1], SYNC_SEM_WAIT, SEMAPHORE, 0), BLOCKED);
    assert_int_equal(CALL(t[3], SYNC_DESTROY, SEMAPHORE), 0);
    assert_int_equal(world_result(t[1]), -EINVAL);
}

/* User code takes the last one while the kernel tries to. */
static unsigned takes;

static void take(volatile uint32_t *p)
{
    if (takes > 0) {
        takes--;
        *p = *p ? 0 : 1;
    }
}

static void test_semaphore_race(void **state)
{
    (void)state;
    sync_t *sem = world_at(t[0], SEMAPHORE);
    for (takes = 1; takes < 60; takes = takes + 1) {
        unsigned n = takes;
        sem->count = 1;
        fake_before_cas = take;
        long r = CALL(t[1], SYNC_SEM_WAIT, SEMAPHORE, 0);
        fake_before_cas = NULL;
        if (r == BLOCKED) {
            assert_int_equal(CALL(t[2], SYNC_SEM_POST, SEMAPHORE), 0);
        }
        assert_int_equal(world_result(t[1]), 0);
        takes = n;
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, world_teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_condvar),         CASE(test_broadcast),      CASE(test_condvar_hands_over),
        CASE(test_condvar_timeout), CASE(test_condvar_cancel), CASE(test_condvar_wrong),
        CASE(test_semaphore),       CASE(test_semaphore_ends), CASE(test_semaphore_race),
    };
    return cmocka_run_group_tests(tests, world_group, NULL);
}
