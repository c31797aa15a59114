/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of guest_bounds.c on threads, synchronization and scheduling. */
#include "test/bench/bounds.h"

/* ---- threads --------------------------------------------------------------------- */

static int call_thread_destroy(void)
{
    int error = 0;

    for (unsigned i = 0; i < crowd_size; i++) {
        error |= ThreadDestroy(crowd_tids[i], 0, NULL);
    }
    return error;
}

/* The first of them owns the mutex for which the others wait. */
static void *role_owns_or_locks(void *at)
{
    if (at != &crowd_tids[0]) {
        return role_locks(at);
    }
    SyncMutexLock(&mutex);
    return role_sleeps(at);
}

static int begin_owner(void)
{
    SyncTypeCreate(_NTO_SYNC_MUTEX_FREE, &mutex, NULL);
    return crowd(role_owns_or_locks);
}

static int call_owner_dies(void)
{
    return ThreadDestroy(crowd_tids[0], 0, NULL);
}

/* The first of them receives what the others send, and has not answered. */
static void *role_serves(void *at)
{
    if (at != &crowd_tids[0]) {
        return role_sends(at);
    }
    for (unsigned i = 1; i < WAITERS; i++) {
        MsgReceive(chid, NULL, 0, NULL);
    }
    return role_sleeps(at);
}

static int begin_server(void)
{
    return crowd(role_serves);
}

static int call_thread_detach(void)
{
    return ThreadDetach(crowd_tids[0]);
}

static void end_detached(void)
{
    ThreadDestroy(crowd_tids[0], 0, NULL);
    crowd_tids[0] = crowd_tids[crowd_size - 1];
    crowd_size--;
    crowd_end();
}

static int call_thread_join(void)
{
    void *status;
    int error = 0;

    for (unsigned i = 0; i < crowd_size; i++) {
        error |= ThreadJoin(crowd_tids[i], &status);
    }
    crowd_size = 0;
    return error;
}

static int begin_ended(void)
{
    return crowd(role_sleeps) || call_thread_destroy();
}

static void canstub(void)
{
    ThreadDestroy(0, 0, NULL);
}

static int call_thread_cancel(void)
{
    int error = 0;

    for (unsigned i = 0; i < crowd_size; i++) {
        error |= ThreadCancel(crowd_tids[i], canstub);
    }
    return error;
}

static int call_thread_ctl(void)
{
    char text[KYMO_THREAD_NAME_MAX];
    struct _thread_name name = {-1, sizeof(text), text};

    return ThreadCtl(_NTO_TCTL_THREADS_HOLD, NULL) | ThreadCtl(_NTO_TCTL_NAME, &name) |
           ThreadCtl(_NTO_TCTL_THREADS_CONT, NULL);
}

SAME(thread_create, "thread", "pthread_create() and what comes with it");
MEASURE(thread_destroy, begin_sleepers, call_thread_destroy, crowd_end);
MEASURE(thread_detach, begin_sleepers, call_thread_detach, end_detached);
MEASURE(thread_join, begin_ended, call_thread_join, NULL);
MEASURE(thread_cancel, begin_sleepers, call_thread_cancel, crowd_end);
MEASURE(thread_ctl, begin_sleepers, call_thread_ctl, crowd_end);

/* More cases, by what the thread was to others. */
const struct bound bound_destroy_owner = {begin_owner, call_owner_dies, crowd_end, NULL, NULL};
const struct bound bound_destroy_server = {begin_server, call_owner_dies, crowd_end, NULL, NULL};

/* ---- synchronization, scheduling ------------------------------------------------- */

static int begin_mutex(void)
{
    SyncTypeCreate(_NTO_SYNC_MUTEX_FREE, &mutex, NULL);
    return SyncMutexLock(&mutex) != 0 || crowd(role_locks) != 0;
}

static void end_mutex(void)
{
    SyncMutexUnlock(&mutex);
    crowd_end();
}

static int begin_cond(void)
{
    SyncTypeCreate(_NTO_SYNC_MUTEX_FREE, &mutex, NULL);
    SyncTypeCreate(_NTO_SYNC_COND, &cond, NULL);
    return crowd(role_waits) != 0 || SyncMutexLock(&mutex) != 0;
}

static void end_cond(void)
{
    SyncCondvarSignal(&cond, 1);
    end_mutex();
}

static int begin_sem(void)
{
    sem.count = 0;
    SyncTypeCreate(_NTO_SYNC_SEM, &sem, NULL);
    return crowd(role_sem);
}

static int call_sync_create(void)
{
    return SyncTypeCreate(_NTO_SYNC_COND, &cond, NULL);
}

static int call_sync_destroy(void)
{
    return SyncDestroy(&mutex);
}

static int call_sync_mutex_lock(void)
{
    const uint64_t ns = 1000;

    TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_MUTEX, NULL, &ns, NULL);
    return SyncMutexLock(&mutex) == 0;
}

static int call_sync_mutex_unlock(void)
{
    return SyncMutexUnlock(&mutex);
}

/* Threads wait for the caller to unlock its mutex, and for the condition. */
static int call_sync_condvar_wait(void)
{
    const uint64_t ns = 1000;

    TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_CONDVAR, NULL, &ns, NULL);
    SyncCondvarWait(&cond, &mutex);
    return 0;
}

static int begin_condvar_wait(void)
{
    SyncTypeCreate(_NTO_SYNC_COND, &cond, NULL);
    return begin_mutex();
}

static int call_sync_condvar_signal(void)
{
    return SyncCondvarSignal(&cond, 1);
}

static int call_sync_sem_post(void)
{
    return SyncSemPost(&sem);
}

static void end_sem(void)
{
    SyncDestroy(&sem);
    crowd_end();
}

static int call_sync_sem_wait(void)
{
    const uint64_t ns = 1000;

    TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_SEM, NULL, &ns, NULL);
    return SyncSemWait(&sem, 0) == 0;
}

static int call_sync_ctl(void)
{
    return SyncCtl(1, &mutex, NULL) == 0;
}

static int begin_dead_owner(void)
{
    return begin_owner() || call_owner_dies();
}

static int call_sync_mutex_revive(void)
{
    return SyncMutexRevive(&mutex);
}

static int call_sched_get(void)
{
    struct sched_param_kymo param;

    return SchedGet(0, crowd_tids[crowd_size - 1], &param) < 0;
}

/* Of each thread in turn: above all others and below them, while each waits for a mutex. */
static int call_sched_set(void)
{
    const int priorities[] = {60, 5, 40};
    int error = 0;

    for (unsigned n = 0; n < 3; n++) {
        for (unsigned i = 0; i < crowd_size; i++) {
            struct sched_param_kymo param = {.sched_priority = priorities[n]};
            error |= SchedSet(0, crowd_tids[i], SCHED_RR, &param) < 0;
        }
    }
    return error;
}

static int call_sched_yield(void)
{
    return SchedYield();
}

static int call_sched_info(void)
{
    struct sched_info_kymo info;

    return SchedInfo(0, SCHED_RR, &info);
}

MEASURE(sync_create, NULL, call_sync_create, NULL);
MEASURE(sync_destroy, begin_mutex, call_sync_destroy, crowd_end);
MEASURE(sync_mutex_lock, begin_owner, call_sync_mutex_lock, crowd_end);
MEASURE(sync_mutex_unlock, begin_mutex, call_sync_mutex_unlock, crowd_end);
MEASURE(sync_condvar_wait, begin_condvar_wait, call_sync_condvar_wait, end_mutex);
MEASURE(sync_condvar_signal, begin_cond, call_sync_condvar_signal, end_cond);
MEASURE(sync_sem_post, begin_sem, call_sync_sem_post, end_sem);
MEASURE(sync_sem_wait, begin_sem, call_sync_sem_wait, end_sem);
MEASURE(sync_ctl, NULL, call_sync_ctl, NULL);
MEASURE(sync_mutex_revive, begin_dead_owner, call_sync_mutex_revive, end_mutex);
MEASURE(sched_get, begin_sleepers, call_sched_get, crowd_end);
MEASURE(sched_set, begin_owner, call_sched_set, crowd_end);
MEASURE(sched_yield, begin_sleepers, call_sched_yield, crowd_end);
MEASURE(sched_info, NULL, call_sched_info, NULL);
