/* SPDX-License-Identifier: BSD-2-Clause */
/* Mutexes with inheritance, condition variables, semaphores; and many threads on all CPUs. */
#include "test/board/programs/check.h"

#define WORKERS 6
#define ROUNDS 2000

static sync_t mutex, cond, sem;
static volatile unsigned count, in_section;
static volatile int stage;

static void fresh(void)
{
    memset((void *)&mutex, 0, sizeof(mutex));
    memset((void *)&cond, 0, sizeof(cond));
    memset((void *)&sem, 0, sizeof(sem));
    EXPECT_EQ(SyncTypeCreate(SYNC_MUTEX_FREE, &mutex, NULL), 0);
    EXPECT_EQ(SyncTypeCreate(SYNC_COND, &cond, NULL), 0);
    EXPECT_EQ(SyncTypeCreate(SYNC_SEM, &sem, NULL), 0);
    count = in_section = 0;
    stage = 0;
}

static void t_mutex(void)
{
    fresh();
    EXPECT_EQ(SyncMutexLock(&mutex), 0);
    EXPECT_EQ(mutex.owner & SYNC_TID_MASK, self_tid());
    EXPECT_ERR(SyncMutexLock(&mutex), EDEADLK);
    EXPECT_EQ(SyncMutexUnlock(&mutex), 0);
    EXPECT_EQ(mutex.owner, 0);
    EXPECT_ERR(SyncMutexUnlock(&mutex), EPERM);
}

static void *locks_and_tells(void *priority)
{
    SyncMutexLock(&mutex);
    *(int *)priority = ++stage;
    SyncMutexUnlock(&mutex);
    return NULL;
}

static void t_highest_first(void)
{
    int order[3] = {0};
    int tid[3];

    fresh();
    EXPECT_EQ(SyncMutexLock(&mutex), 0);
    for (int i = 0; i < 3; i++) {
        tid[i] = start_thread(locks_and_tells, &order[i], 11 + 10 * i);
        wait_state(self_pid(), tid[i], STATE_MUTEX);
    }
    EXPECT_EQ(own_priority(), 31); /* inherits the highest waiter's */
    EXPECT_EQ(SyncMutexUnlock(&mutex), 0);
    for (int i = 0; i < 3; i++) {
        join(tid[i]);
    }
    EXPECT_EQ(own_priority(), 10);
    EXPECT_EQ(order[2], 1);
    EXPECT_EQ(order[1], 2);
    EXPECT_EQ(order[0], 3);
}

static void *contender(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        SyncMutexLock(&mutex);
        if (in_section++ != 0) {
            check_fail(__FILE__, __LINE__, "two in the section");
        }
        count++;
        if (i % 64 == 0) {
            SchedYield();
        }
        in_section--;
        SyncMutexUnlock(&mutex);
    }
    return unused;
}

static void t_contention(void)
{
    int tid[WORKERS];

    fresh();
    for (int i = 0; i < WORKERS; i++) {
        tid[i] = start_thread(contender, NULL, i % 2 ? 9 : 0);
    }
    for (int i = 0; i < WORKERS; i++) {
        join(tid[i]);
    }
    EXPECT_EQ(count, WORKERS * ROUNDS);
    EXPECT_EQ(mutex.owner, 0);
}

static void *cond_waiter(void *unused)
{
    SyncMutexLock(&mutex);
    while (stage == 0) {
        EXPECT_EQ(SyncCondvarWait(&cond, &mutex), 0);
        EXPECT_EQ(mutex.owner & SYNC_TID_MASK, self_tid());
    }
    count++;
    SyncMutexUnlock(&mutex);
    return unused;
}

static void t_condvar(void)
{
    int tid[3];

    fresh();
    for (int i = 0; i < 3; i++) {
        tid[i] = start_thread(cond_waiter, NULL, 0);
        wait_state(self_pid(), tid[i], STATE_CONDVAR);
    }
    EXPECT_EQ(SyncCondvarSignal(&cond, 0), 0); /* stage still 0: it waits again */
    sleep_ms(2);
    EXPECT_EQ(count, 0);
    SyncMutexLock(&mutex);
    stage = 1;
    EXPECT_EQ(SyncCondvarSignal(&cond, 1), 0);
    SyncMutexUnlock(&mutex);
    for (int i = 0; i < 3; i++) {
        join(tid[i]);
    }
    EXPECT_EQ(count, 3);
}

static void arm(unsigned states, uint64_t ns)
{
    EXPECT(TimerTimeout(CLOCK_MONOTONIC, states, NULL, &ns, NULL) >= 0);
}

static void *holds(void *unused)
{
    SyncMutexLock(&mutex);
    SyncSemWait(&sem, 0);
    SyncMutexUnlock(&mutex);
    return unused;
}

static void t_timeouts(void)
{
    int tid;

    fresh();
    arm(_NTO_TIMEOUT_SEM, 10 * MS);
    EXPECT_ERR(SyncSemWait(&sem, 0), ETIMEDOUT);
    SyncMutexLock(&mutex);
    arm(_NTO_TIMEOUT_CONDVAR, 10 * MS);
    EXPECT_ERR(SyncCondvarWait(&cond, &mutex), ETIMEDOUT);
    EXPECT_EQ(mutex.owner & SYNC_TID_MASK, self_tid()); /* held again */
    EXPECT_EQ(SyncMutexUnlock(&mutex), 0);
    tid = start_thread(holds, NULL, 0);
    wait_state(self_pid(), tid, STATE_SEM);
    arm(_NTO_TIMEOUT_MUTEX, 10 * MS);
    EXPECT_ERR(SyncMutexLock(&mutex), ETIMEDOUT);
    EXPECT_EQ(SyncSemPost(&sem), 0);
    join(tid);
    EXPECT_EQ(SyncMutexLock(&mutex), 0);
    EXPECT_EQ(SyncMutexUnlock(&mutex), 0);
}

static void t_semaphore(void)
{
    fresh();
    EXPECT_ERR(SyncSemWait(&sem, 1), EAGAIN);
    EXPECT_EQ(SyncSemPost(&sem), 0);
    EXPECT_EQ(SyncSemPost(&sem), 0);
    EXPECT_EQ(SyncSemWait(&sem, 1), 0);
    EXPECT_EQ(SyncSemWait(&sem, 0), 0);
    EXPECT_ERR(SyncSemWait(&sem, 1), EAGAIN);
    sem.count = SYNC_SEM_VALUE_MAX;
    EXPECT_ERR(SyncSemPost(&sem), EOVERFLOW);
}

static volatile unsigned produced, consumed;
static void *producer(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        SyncSemPost(&sem);
    }
    return unused;
}

static void *consumer(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        if (SyncSemWait(&sem, 0) != 0) {
            check_fail(__FILE__, __LINE__, "errno %d", errno);
        }
    }
    return unused;
}

static void t_sem_stress(void)
{
    int tid[WORKERS];

    fresh();
    for (int i = 0; i < WORKERS; i++) {
        tid[i] = start_thread(i % 2 ? producer : consumer, NULL, 8 + i);
    }
    for (int i = 0; i < WORKERS; i++) {
        join(tid[i]);
    }
    EXPECT_EQ(sem.count, 0);
}

static void *destroyed_waiter(void *result)
{
    *(int *)result = SyncSemWait(&sem, 0) == -1 ? errno : 0;
    return NULL;
}

static void t_destroy(void)
{
    int result = -1, tid;

    fresh();
    tid = start_thread(destroyed_waiter, &result, 0);
    wait_state(self_pid(), tid, STATE_SEM);
    EXPECT_EQ(SyncDestroy(&sem), 0);
    join(tid);
    EXPECT_EQ(result, EINVAL);
    EXPECT_ERR(SyncSemWait(&sem, 0), EINVAL);
    EXPECT_ERR(SyncSemPost(&sem), EINVAL);
    EXPECT_EQ(SyncDestroy(&mutex), 0);
    EXPECT_ERR(SyncMutexLock(&mutex), EINVAL);
    EXPECT_ERR(SyncCtl(0, &mutex, NULL), ENOTSUP);
}

static const struct check table[] = {
    {"mutex", t_mutex},
    {"highest waiter first", t_highest_first},
    {"contention", t_contention},
    {"condition variable", t_condvar},
    {"timeouts", t_timeouts},
    {"semaphore", t_semaphore},
    {"semaphore stress", t_sem_stress},
    {"destroy", t_destroy},
};

int main(void)
{
    return check_run("sync", table, COUNT(table));
}
