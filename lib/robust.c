/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * <pthread.h>: robust mutexes. A thread records in its tcb the ones that it owns. When it ends by
 * pthread_exit(), its function's return or a cancellation, they go to their next owners, marked
 * SYNC_COUNT_OWNER_DIED; every thread that locks such a mutex reads the mark. A thread ended by
 * ThreadDestroy() runs no code: the kernel finds its mutexes without a living owner, and
 * SyncMutexRevive() takes them, as long as no new thread has its tid. An unlock with the mark sets
 * SYNC_COUNT_LOST, with which every thread unlocks the mutex at once.
 *
 * Marks are written by the owner only. Tested by test/board/programs/t_posix.c.
 */
#include <errno.h>

#include "lib/include/sys/neutrino_r.h"
#include "lib/mutex.h"
#include "lib/thread.h"
#include SYSTEM_PROBE_H

_Static_assert(KYMO_ROBUST_MAX == KYMO_ROBUST, "robust mutexes of a thread");

/* Returns false if the thread has reached the limit. */
static bool robust_remember_mutex(struct kymo_tcb *self, pthread_mutex_t *mutex)
{
    int free_slot = -1;

    for (int i = 0; i < KYMO_ROBUST; i++) {
        if (self->robust[i] == mutex) {
            return true; /* it was given up by pthread_cond_wait() meanwhile */
        }
        free_slot = !self->robust[i] && free_slot < 0 ? i : free_slot;
    }
    if (free_slot < 0) {
        return false;
    }
    self->robust[free_slot] = mutex;
    return true;
}

static void robust_forget_mutex(struct kymo_tcb *self, const pthread_mutex_t *mutex)
{
    for (int i = 0; i < KYMO_ROBUST; i++) {
        if (self->robust[i] == mutex) {
            self->robust[i] = NULL;
        }
    }
}

int kymo_robust_got(pthread_mutex_t *mutex)
{
    struct kymo_tcb *self = kymo_self();

    if (mutex->count & SYNC_COUNT_LOST) {
        robust_forget_mutex(self, mutex);
        kymo_mutex_release(mutex);
        return ENOTRECOVERABLE;
    }
    if (!robust_remember_mutex(self, mutex)) {
        kymo_mutex_release(mutex);
        return EAGAIN;
    }
    const int again = 0;
    SYSTEM_PROBE(kymo, mutex__acquire, mutex, again);
    return mutex->count & SYNC_COUNT_OWNER_DIED ? EOWNERDEAD : 0;
}

int kymo_robust_retry(pthread_mutex_t *mutex, const struct timespec *until)
{
    /* Each iteration except the last finds that another thread was faster, and has ended since. */
    for (;;) {
        int error = 0;

        if (mutex->owner == SYNC_OWNER_DESTROYED) {
            return EINVAL;
        }
        if (SyncMutexRevive_r(kymo_sync(mutex)) == 0) {
            mutex->count |= SYNC_COUNT_OWNER_DIED;
            return kymo_robust_got(mutex);
        }
        if (until) {
            error = kymo_timeout_at(_NTO_TIMEOUT_MUTEX, CLOCK_REALTIME, until);
        }
        error = error != 0 ? error : -kymo_mutex_wait(mutex);
        if (error == 0) {
            return kymo_robust_got(mutex);
        }
        if (error != EINVAL) {
            return error;
        }
    }
}

void kymo_robust_leave(pthread_mutex_t *mutex)
{
    if (mutex->count & SYNC_COUNT_OWNER_DIED) {
        mutex->count |= SYNC_COUNT_LOST;
    }
    robust_forget_mutex(kymo_self(), mutex);
}

int pthread_mutex_consistent(pthread_mutex_t *mutex)
{
    bool own = (mutex->owner & ~SYNC_WAITING) == (uint32_t)kymo_self()->tid;

    if (!own || !(mutex->count & SYNC_COUNT_OWNER_DIED)) {
        return EINVAL;
    }
    mutex->count &= ~SYNC_COUNT_OWNER_DIED;
    return 0;
}

void kymo_robust_end(struct kymo_tcb *self)
{
    for (int i = 0; i < KYMO_ROBUST; i++) {
        pthread_mutex_t *mutex = self->robust[i];

        self->robust[i] = NULL;
        if (mutex && (mutex->owner & ~SYNC_WAITING) == (uint32_t)self->tid) {
            mutex->count = (mutex->count & ~SYNC_COUNT_DEPTH) | SYNC_COUNT_OWNER_DIED;
            kymo_mutex_release(mutex);
        }
    }
}
