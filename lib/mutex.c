/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * <pthread.h>: mutexes. Free -> owned and back is one compare-and-swap here; the kernel is called
 * only if another thread owns it or waits for it. It keeps the waiters and lends their priority.
 */
#include <errno.h>

#include "lib/include/sys/neutrino_r.h"
#include "lib/mutex.h"
#include "lib/thread.h"

#define DEPTH_MASK (SYNC_COUNT_RECURSIVE - 1)

static bool swap(pthread_mutex_t *mutex, uint32_t from, uint32_t to)
{
    return __atomic_compare_exchange_n(&mutex->owner, &from, to, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}

static bool owned(const pthread_mutex_t *mutex, uint32_t tid)
{
    return (mutex->owner & ~SYNC_WAITING) == tid;
}

static int again(pthread_mutex_t *mutex)
{
    if (!(mutex->count & SYNC_COUNT_RECURSIVE)) {
        return EDEADLK;
    }
    if ((mutex->count & DEPTH_MASK) == DEPTH_MASK) {
        return EAGAIN;
    }
    mutex->count++;
    return 0;
}

int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr)
{
    mutex->count = attr && attr->recursive ? SYNC_COUNT_RECURSIVE : 0;
    mutex->owner = SYNC_MUTEX_FREE;
    return 0;
}

int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    return swap(mutex, SYNC_MUTEX_FREE, SYNC_OWNER_DESTROYED) ? 0 : EBUSY;
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    uint32_t tid = (uint32_t)kymo_self()->tid;

    if (swap(mutex, SYNC_MUTEX_FREE, tid)) {
        return 0;
    }
    if (owned(mutex, tid)) {
        return again(mutex);
    }
    int error = SyncMutexLock_r(kymo_sync(mutex));
    return error < 0 ? -error : 0;
}

int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    uint32_t tid = (uint32_t)kymo_self()->tid;

    if (swap(mutex, SYNC_MUTEX_FREE, tid)) {
        return 0;
    }
    if (owned(mutex, tid) && (mutex->count & SYNC_COUNT_RECURSIVE)) {
        return again(mutex);
    }
    return mutex->owner == SYNC_OWNER_DESTROYED ? EINVAL : EBUSY;
}

int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
    int error = pthread_mutex_trylock(mutex);

    if (error != EBUSY) {
        return error;
    }
    if (owned(mutex, (uint32_t)kymo_self()->tid)) {
        return EDEADLK;
    }
    error = kymo_timeout_at(_NTO_TIMEOUT_MUTEX, until);
    if (error != 0) {
        return error;
    }
    return -SyncMutexLock_r(kymo_sync(mutex));
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    uint32_t tid = (uint32_t)kymo_self()->tid;

    if (!owned(mutex, tid)) {
        return EPERM;
    }
    if (mutex->count & DEPTH_MASK) {
        mutex->count--;
        return 0;
    }
    if (swap(mutex, tid, SYNC_MUTEX_FREE)) {
        return 0;
    }
    int error = SyncMutexUnlock_r(kymo_sync(mutex));
    return error < 0 ? -error : 0;
}
