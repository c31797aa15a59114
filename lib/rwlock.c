/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * <pthread.h>: read-write locks. The mutex protects the counts only and is never held for long; a
 * thread that can't get the lock waits on one of two condition variables. New readers wait while a
 * writer waits, else writers could starve. An unlock wakes one writer if one waits, else all
 * readers.
 *
 * Tested by test/board/programs/t_posix.c.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>

int pthread_rwlock_init(pthread_rwlock_t *lock, const pthread_rwlockattr_t *attr)
{
    (void)attr;
    *lock = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
    return 0;
}

int pthread_rwlock_destroy(pthread_rwlock_t *lock)
{
    int error = pthread_mutex_lock(&lock->mutex);

    if (error != 0) {
        return error;
    }
    bool used = lock->readers > 0 || lock->writer || lock->waiting_readers || lock->waiting_writers;
    pthread_mutex_unlock(&lock->mutex);
    if (used) {
        return EBUSY;
    }
    pthread_cond_destroy(&lock->may_read);
    pthread_cond_destroy(&lock->may_write);
    return pthread_mutex_destroy(&lock->mutex);
}

static bool may_read(const pthread_rwlock_t *lock)
{
    return !lock->writer && lock->waiting_writers == 0;
}

static bool may_write(const pthread_rwlock_t *lock)
{
    return !lock->writer && lock->readers == 0;
}

/* Called with the mutex locked: wakes the threads that can lock it after a change. */
static void rwlock_wake_waiters(pthread_rwlock_t *lock)
{
    if (lock->waiting_writers > 0 && may_write(lock)) {
        pthread_cond_signal(&lock->may_write);
    } else if (lock->waiting_readers > 0 && may_read(lock)) {
        pthread_cond_broadcast(&lock->may_read);
    }
}

struct waiter {
    pthread_rwlock_t *lock;
    int *waiting;
};

/* Called with the mutex locked. A writer that gives up may have blocked readers; a cancelled one
 * may have been woken, and another must be woken instead. */
static void rwlock_leave_queue(const struct waiter *waiter)
{
    --*waiter->waiting;
    rwlock_wake_waiters(waiter->lock);
}

static void rwlock_wait_canceled(void *arg)
{
    const struct waiter *waiter = arg;

    rwlock_leave_queue(waiter);
    pthread_mutex_unlock(&waiter->lock->mutex);
}

/* Called with the mutex locked; until NULL: forever. Returns 0, or an errno without the lock. */
static int rwlock_wait_turn(pthread_rwlock_t *lock, bool write, const struct timespec *until)
{
    pthread_cond_t *cond = write ? &lock->may_write : &lock->may_read;
    struct waiter waiter = {lock, write ? &lock->waiting_writers : &lock->waiting_readers};
    int error = 0;

    ++*waiter.waiting;
    pthread_cleanup_push(rwlock_wait_canceled, &waiter);
    while (error == 0 && !(write ? may_write(lock) : may_read(lock))) {
        error = until ? pthread_cond_timedwait(cond, &lock->mutex, until)
                      : pthread_cond_wait(cond, &lock->mutex);
    }
    pthread_cleanup_pop(0);
    if (error != 0 && (write ? may_write(lock) : may_read(lock))) {
        error = 0; /* the time is up, but it is free */
    }
    if (error != 0) {
        rwlock_leave_queue(&waiter);
        return error;
    }
    --*waiter.waiting;
    return 0;
}

static int rwlock_take_lock(pthread_rwlock_t *lock, bool write, bool try_only,
                            const struct timespec *until)
{
    int error = pthread_mutex_lock(&lock->mutex);

    if (error != 0) {
        return error;
    }
    if (!(write ? may_write(lock) : may_read(lock))) {
        error = try_only                         ? EBUSY
                : lock->writer == pthread_self() ? EDEADLK
                                                 : rwlock_wait_turn(lock, write, until);
    }
    if (error == 0 && write) {
        lock->writer = pthread_self();
    } else if (error == 0) {
        lock->readers++;
    }
    pthread_mutex_unlock(&lock->mutex);
    return error;
}

int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    return rwlock_take_lock(lock, false, false, NULL);
}

int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
    return rwlock_take_lock(lock, false, true, NULL);
}

int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *until)
{
    return rwlock_take_lock(lock, false, false, until);
}

int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    return rwlock_take_lock(lock, true, false, NULL);
}

int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
    return rwlock_take_lock(lock, true, true, NULL);
}

int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *until)
{
    return rwlock_take_lock(lock, true, false, until);
}

int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
    int error = pthread_mutex_lock(&lock->mutex);

    if (error != 0) {
        return error;
    }
    if (lock->writer == pthread_self()) {
        lock->writer = 0;
    } else if (!lock->writer && lock->readers > 0) {
        lock->readers--;
    } else {
        error = EPERM;
    }
    rwlock_wake_waiters(lock);
    pthread_mutex_unlock(&lock->mutex);
    return error;
}
