/* SPDX-License-Identifier: BSD-2-Clause */
/* The sync_t of the POSIX types, time limits, and robust mutexes (lib/robust.c). */
#ifndef LIB_MUTEX_H
#define LIB_MUTEX_H

#include <pthread.h>

/* The POSIX types are the kernel's sync_t under names without the kernel's header. */
static inline sync_t *kymo_sync(struct kymo_sync_words *words)
{
    return (sync_t *)words;
}
_Static_assert(sizeof(struct kymo_sync_words) == sizeof(sync_t), "sync_t layout");
_Static_assert(offsetof(struct kymo_sync_words, owner) == offsetof(sync_t, owner), "sync_t layout");

struct kymo_tcb;

/* Arms an absolute timeout by this clock for the calling thread's next block in `states`
 * (_NTO_TIMEOUT_*): 0 or an errno. */
int kymo_timeout_at(unsigned states, clockid_t clock, const struct timespec *until);

/* Asks the kernel for a mutex that another thread owns: returns 0 or a negative errno. */
int kymo_mutex_wait(pthread_mutex_t *mutex);
/* Unlocks a mutex that the caller owns once: returns 0, or an errno of the kernel's. */
int kymo_mutex_release(pthread_mutex_t *mutex);
/* Called when the caller has just locked a robust mutex: returns the lock function's result. */
int kymo_robust_got(pthread_mutex_t *mutex);
/* Called when SyncMutexLock() refused a robust mutex: takes it from an owner that has ended, or
 * waits again, at most until then (NULL: forever). Returns the lock function's result. */
int kymo_robust_retry(pthread_mutex_t *mutex, const struct timespec *until);
/* The caller is about to unlock a robust mutex. */
void kymo_robust_leave(pthread_mutex_t *mutex);
/* Passes the ending thread's robust mutexes to their next owners. */
void kymo_robust_end(struct kymo_tcb *self);

#endif
