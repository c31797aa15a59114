/* SPDX-License-Identifier: BSD-2-Clause */
/* POSIX unnamed semaphores over Sync*. -1 and errno on failure. Within one process only. */
#ifndef LIB_SEMAPHORE_H
#define LIB_SEMAPHORE_H

#include <time.h>

#include "lib/include/sys/_pthreadtypes.h"

typedef struct kymo_sync_words sem_t;
#define SEM_VALUE_MAX 0x7fffffff

int sem_init(sem_t *sem, int shared, unsigned value); /* ENOSYS: shared is not 0 */
int sem_destroy(sem_t *sem);
int sem_post(sem_t *sem);
int sem_wait(sem_t *sem);
int sem_trywait(sem_t *sem);                                 /* EAGAIN: it is 0 */
int sem_timedwait(sem_t *sem, const struct timespec *until); /* CLOCK_REALTIME; ETIMEDOUT */
int sem_getvalue(sem_t *sem, int *value);

#endif
