/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * <pthread.h>: mutexes. Locking a free one and unlocking it is one compare-and-swap each; the
 * kernel is called only if another thread owns it or waits for it. The kernel keeps the waiters and
 * applies priority inheritance. lib/robust.c has the special cases of robust ones. Tested by
 * test/board/programs/t_posix.c.
 */
#include <errno.h>

#include "lib/include/sys/neutrino_r.h"
#include "lib/mutex.h"
#include "lib/thread.h"
#include SYSTEM_PROBE_H

static bool mutex_swap_word(pthread_mutex_t *mutex, uint32_t from, uint32_t to)
{
    return __atomic_compare_exchange_n(&mutex->owner, &from, to, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}

static bool mutex_owned_word(const pthread_mutex_t *mutex, uint32_t tid)
{
    return (mutex->owner & ~SYNC_WAITING) == tid;
}

/* Called when the caller has just locked it. */
static inline int mutex_note_locked(pthread_mutex_t *mutex)
{
    if (mutex->count & SYNC_COUNT_ROBUST) {
        return kymo_robust_got(mutex);
    }
    const int again = 0;
    SYSTEM_PROBE(kymo, mutex__acquire, mutex, again);
    return 0;
}

static int mutex_lock_again(pthread_mutex_t *mutex)
{
    if (!(mutex->count & SYNC_COUNT_RECURSIVE)) {
        return EDEADLK;
    }
    if ((mutex->count & SYNC_COUNT_DEPTH) == SYNC_COUNT_DEPTH) {
        return EAGAIN;
    }
    mutex->count++;
    const int again = 1;
    SYSTEM_PROBE(kymo, mutex__acquire, mutex, again);
    return 0;
}

int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr)
{
    mutex->count = attr && attr->recursive ? SYNC_COUNT_RECURSIVE : 0;
    mutex->count |= attr && attr->robust ? SYNC_COUNT_ROBUST : 0;
    mutex->owner = SYNC_MUTEX_FREE;
    return 0;
}

int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    return mutex_swap_word(mutex, SYNC_MUTEX_FREE, SYNC_OWNER_DESTROYED) ? 0 : EBUSY;
}

int kymo_mutex_wait(pthread_mutex_t *mutex)
{
    SYSTEM_PROBE(kymo, mutex__block, mutex);
    int error = SyncMutexLock_r(kymo_sync(mutex));
    const int owned = error == 0;
    SYSTEM_PROBE(kymo, mutex__blocked, mutex, owned);
    return error;
}

/* Waits for a mutex that another thread owns, or owned. until: NULL: forever. */
static int mutex_wait_locked(pthread_mutex_t *mutex, const struct timespec *until)
{
    int error = kymo_mutex_wait(mutex);

    if (error == 0) {
        return mutex_note_locked(mutex);
    }
    return error == -EINVAL && (mutex->count & SYNC_COUNT_ROBUST) ? kymo_robust_retry(mutex, until)
                                                                  : -error;
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    uint32_t tid = (uint32_t)kymo_self()->tid;

    if (mutex_swap_word(mutex, SYNC_MUTEX_FREE, tid)) {
        return mutex_note_locked(mutex);
    }
    if (mutex_owned_word(mutex, tid)) {
        return mutex_lock_again(mutex);
    }
    return mutex_wait_locked(mutex, NULL);
}

int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    uint32_t tid = (uint32_t)kymo_self()->tid;

    if (mutex_swap_word(mutex, SYNC_MUTEX_FREE, tid)) {
        return mutex_note_locked(mutex);
    }
    if (mutex_owned_word(mutex, tid) && (mutex->count & SYNC_COUNT_RECURSIVE)) {
        return mutex_lock_again(mutex);
    }
    if (mutex->owner == SYNC_OWNER_DESTROYED) {
        return EINVAL;
    }
    if ((mutex->count & SYNC_COUNT_ROBUST) && SyncMutexRevive_r(kymo_sync(mutex)) == 0) {
        mutex->count |= SYNC_COUNT_OWNER_DIED;
        return kymo_robust_got(mutex);
    }
    return EBUSY;
}

int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
    int error = pthread_mutex_trylock(mutex);

    if (error != EBUSY) {
        return error;
    }
    if (mutex_owned_word(mutex, (uint32_t)kymo_self()->tid)) {
        return EDEADLK;
    }
    error = kymo_timeout_at(_NTO_TIMEOUT_MUTEX, CLOCK_REALTIME, until);
    return error != 0 ? error : mutex_wait_locked(mutex, until);
}

int kymo_mutex_release(pthread_mutex_t *mutex)
{
    if (mutex_swap_word(mutex, (uint32_t)kymo_self()->tid, SYNC_MUTEX_FREE)) {
        return 0;
    }
    return -SyncMutexUnlock_r(kymo_sync(mutex));
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    uint32_t tid = (uint32_t)kymo_self()->tid;

    if (!mutex_owned_word(mutex, tid)) {
        return EPERM;
    }
    if (mutex->count & (SYNC_COUNT_DEPTH | SYNC_COUNT_ROBUST)) {
        if (mutex->count & SYNC_COUNT_DEPTH) {
            mutex->count--;
            const int kept = 1;
            SYSTEM_PROBE(kymo, mutex__release, mutex, kept);
            return 0;
        }
        kymo_robust_leave(mutex);
    }
    /* Called before another thread owns it, so that the times of two owners don't overlap. */
    const int kept = 0;
    SYSTEM_PROBE(kymo, mutex__release, mutex, kept);
    if (mutex_swap_word(mutex, tid, SYNC_MUTEX_FREE)) {
        return 0;
    }
    int error = SyncMutexUnlock_r(kymo_sync(mutex));
    return error < 0 ? -error : 0;
}
