/* SPDX-License-Identifier: BSD-2-Clause */
/* <pthread.h>: condition variables and once. Tested by test/board/programs/t_posix.c. */
#include <errno.h>
#include <pthread.h>

#include "lib/clock.h"
#include "lib/include/sys/neutrino_r.h"
#include "lib/mutex.h"
#include "lib/thread.h"
#include SYSTEM_PROBE_H

int kymo_timeout_at(unsigned states, clockid_t clock, const struct timespec *until)
{
    if (!kymo_timespec_ok(until)) {
        return EINVAL;
    }
    uint64_t ns = kymo_timespec_ns(until);
    int error = TimerTimeout_r((int)clock, states | TIMER_ABSTIME, NULL, &ns, NULL);
    return error < 0 ? -error : 0;
}

int pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr)
{
    cond->count = attr ? attr->clock : CLOCK_REALTIME; /* the kernel doesn't use this word */
    cond->owner = SYNC_OWNER_COND;
    return 0;
}

int pthread_cond_destroy(pthread_cond_t *cond)
{
    return -SyncDestroy_r(kymo_sync(cond));
}

/* The error of a robust mutex's lock takes precedence over the wait's. */
static int robust_result(pthread_mutex_t *mutex, int error)
{
    if ((mutex->owner & ~SYNC_WAITING) == (uint32_t)kymo_self()->tid) {
        int state = kymo_robust_got(mutex);

        return state != 0 ? state : error;
    }
    if (error != EPERM && mutex->owner == SYNC_OWNER_DEAD) {
        return kymo_robust_retry(mutex, NULL);
    }
    return error;
}

int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    SYSTEM_PROBE(kymo, cond__wait, cond, mutex);
    int error = -SyncCondvarWait_r(kymo_sync(cond), kymo_sync(mutex));
    SYSTEM_PROBE(kymo, cond__waited, cond, mutex, error);

    return mutex->count & SYNC_COUNT_ROBUST ? robust_result(mutex, error) : error;
}

int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                           const struct timespec *until)
{
    int error = kymo_timeout_at(_NTO_TIMEOUT_CONDVAR, (clockid_t)cond->count, until);

    return error != 0 ? error : pthread_cond_wait(cond, mutex);
}

int pthread_cond_signal(pthread_cond_t *cond)
{
    const int all = 0;
    SYSTEM_PROBE(kymo, cond__signal, cond, all);
    int error = SyncCondvarSignal_r(kymo_sync(cond), 0);

    return error < 0 ? -error : 0;
}

int pthread_cond_broadcast(pthread_cond_t *cond)
{
    const int all = 1;
    SYSTEM_PROBE(kymo, cond__signal, cond, all);
    int error = SyncCondvarSignal_r(kymo_sync(cond), 1);

    return error < 0 ? -error : 0;
}

int pthread_once(pthread_once_t *once, void (*init)(void))
{
    if (__atomic_load_n(&once->done, __ATOMIC_ACQUIRE)) {
        return 0;
    }
    int error = pthread_mutex_lock(&once->mutex);
    if (error != 0) {
        return error;
    }
    if (!once->done) {
        init();
        __atomic_store_n(&once->done, 1, __ATOMIC_RELEASE);
    }
    return pthread_mutex_unlock(&once->mutex);
}
