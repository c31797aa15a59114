/* SPDX-License-Identifier: BSD-2-Clause */
/* <semaphore.h>: the kernel keeps the count and the waiters. */
#include <errno.h>
#include <semaphore.h>

#include "lib/include/sys/neutrino_r.h"
#include "lib/mutex.h"

static int sem_errno_result(int error)
{
    if (error < 0) {
        errno = -error;
        return -1;
    }
    return 0;
}

int sem_init(sem_t *sem, int shared, unsigned value)
{
    if (shared || value > SEM_VALUE_MAX) {
        return sem_errno_result(shared ? -ENOSYS : -EINVAL);
    }
    sem->count = (int32_t)value;
    sem->owner = SYNC_OWNER_SEM;
    return 0;
}

int sem_destroy(sem_t *sem)
{
    return sem_errno_result(SyncDestroy_r(kymo_sync(sem)));
}

int sem_post(sem_t *sem)
{
    return sem_errno_result(SyncSemPost_r(kymo_sync(sem)));
}

int sem_wait(sem_t *sem)
{
    return sem_errno_result(SyncSemWait_r(kymo_sync(sem), 0));
}

int sem_trywait(sem_t *sem)
{
    return sem_errno_result(SyncSemWait_r(kymo_sync(sem), 1));
}

int sem_timedwait(sem_t *sem, const struct timespec *until)
{
    int error = kymo_timeout_at(_NTO_TIMEOUT_SEM, CLOCK_REALTIME, until);

    return error != 0 ? sem_errno_result(-error) : sem_wait(sem);
}

int sem_getvalue(sem_t *sem, int *value)
{
    *value = sem->count;
    return 0;
}
