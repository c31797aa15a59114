/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * POSIX unnamed semaphores over Sync*, within one process. Return 0, or -1 and errno: EINVAL not a
 * semaphore or destroyed, EFAULT a bad pointer. Any thread.
 */
#ifndef LIB_SEMAPHORE_H
#define LIB_SEMAPHORE_H

#include <time.h>

#include "lib/include/sys/_pthreadtypes.h"

typedef struct kymo_sync_words sem_t;
#define SEM_VALUE_MAX 0x7fffffff

/* ENOSYS: shared is not 0; EINVAL: more than SEM_VALUE_MAX. */
int sem_init(sem_t *sem, int shared, unsigned value);
int sem_destroy(sem_t *sem); /* waiters get EINVAL */
/* wakes the waiter of the highest priority. EOVERFLOW: at its maximum */
int sem_post(sem_t *sem);
int sem_wait(sem_t *sem);    /* a cancellation point, like sem_timedwait() */
int sem_trywait(sem_t *sem); /* EAGAIN: its value is 0 */
int sem_timedwait(sem_t *sem, const struct timespec *until); /* CLOCK_REALTIME; ETIMEDOUT */
int sem_getvalue(sem_t *sem, int *value);

#endif
