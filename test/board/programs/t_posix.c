/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * POSIX where a port meets it first, under load: barriers, read-write locks, robust mutexes,
 * clean-up handlers, clocks of condition variables. Threads do random things that a seed decides,
 * and what must hold is checked at each step.
 */
#include "test/board/programs/check.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define THREADS 5

static uint32_t seed = 12345;

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

static struct timespec at(clockid_t clock, long ns)
{
    struct timespec t;

    clock_gettime(clock, &t);
    t.tv_nsec += ns;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static pthread_t begin(void *(*func)(void *), void *arg)
{
    pthread_t tid = 0;

    EXPECT_EQ(pthread_create(&tid, NULL, func, arg), 0);
    return tid;
}

/* ---- barriers ---------------------------------------------------------------------- */

#define ROUNDS 200

static pthread_barrier_t barrier;
static volatile unsigned arrived[ROUNDS], serials;

static void *goes_round(void *number)
{
    uint32_t state = (uint32_t)(uintptr_t)number;

    for (unsigned round = 0; round < ROUNDS; round++) {
        if (next_random(&state) % 4 == 0) {
            sched_yield();
        }
        __atomic_fetch_add(&arrived[round], 1, __ATOMIC_RELAXED);
        int result = pthread_barrier_wait(&barrier);
        EXPECT_EQ(arrived[round], THREADS); /* nobody passes before all are here */
        EXPECT(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
        __atomic_fetch_add(&serials, result != 0, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void t_barrier(void)
{
    pthread_t tids[THREADS];

    EXPECT_EQ(pthread_barrier_init(&barrier, NULL, 0), EINVAL);
    EXPECT_EQ(pthread_barrier_init(&barrier, NULL, THREADS), 0);
    serials = 0;
    memset((void *)arrived, 0, sizeof(arrived));
    for (int i = 0; i < THREADS; i++) {
        tids[i] = begin(goes_round, (void *)(uintptr_t)(i + 1));
    }
    for (int i = 0; i < THREADS; i++) {
        join(tids[i]);
    }
    EXPECT_EQ(serials, ROUNDS);
    EXPECT_EQ(pthread_barrier_destroy(&barrier), 0);
    EXPECT_EQ(pthread_barrier_wait(&barrier), EINVAL);
}

/* The serial thread frees the barrier while the others leave it. */
static void *meets(void *shared)
{
    pthread_barrier_t *own = shared;

    if (pthread_barrier_wait(own) == PTHREAD_BARRIER_SERIAL_THREAD) {
        EXPECT_EQ(pthread_barrier_destroy(own), 0);
        memset(own, 0xdb, sizeof(*own));
        free(own);
    }
    return NULL;
}

static void t_barrier_freed(void)
{
    for (int round = 0; round < 40; round++) {
        pthread_barrier_t *own = malloc(sizeof(*own));
        pthread_t tids[THREADS];

        EXPECT_EQ(pthread_barrier_init(own, NULL, THREADS), 0);
        for (int i = 0; i < THREADS; i++) {
            tids[i] = begin(meets, own);
        }
        for (int i = 0; i < THREADS; i++) {
            join(tids[i]);
        }
    }
}

static void *waits_there(void *unused)
{
    pthread_barrier_wait(&barrier);
    return unused;
}

/* One that is cancelled was never there. */
static void t_barrier_canceled(void)
{
    EXPECT_EQ(pthread_barrier_init(&barrier, NULL, 2), 0);
    pthread_t first = begin(waits_there, NULL);
    wait_state(self_pid(), first, STATE_CONDVAR);
    EXPECT_EQ(pthread_barrier_destroy(&barrier), EBUSY);
    EXPECT_EQ(pthread_cancel(first), 0);
    join(first);
    pthread_t second = begin(waits_there, NULL);
    wait_state(self_pid(), second, STATE_CONDVAR);
    pthread_barrier_wait(&barrier);
    join(second);
    EXPECT_EQ(pthread_barrier_destroy(&barrier), 0);
}

/* ---- read-write locks -------------------------------------------------------------- */

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static volatile int reading, writing;
static volatile unsigned reads, writes;

static int take_any(bool write, uint32_t choice)
{
    struct timespec until = at(CLOCK_REALTIME, 200000);

    switch (choice % 3) {
    case 0:
        return write ? pthread_rwlock_wrlock(&lock) : pthread_rwlock_rdlock(&lock);
    case 1:
        return write ? pthread_rwlock_trywrlock(&lock) : pthread_rwlock_tryrdlock(&lock);
    default:
        return write ? pthread_rwlock_timedwrlock(&lock, &until)
                     : pthread_rwlock_timedrdlock(&lock, &until);
    }
}

/* Has the lock: nobody writes beside another. A cancellation comes here or in the next lock. */
static void use_lock(bool write, uint32_t choice)
{
    volatile int *mine = write ? &writing : &reading;

    EXPECT_EQ(__atomic_add_fetch(mine, 1, __ATOMIC_SEQ_CST) > 0 && writing > 1, 0);
    EXPECT(writing == 0 || reading == 0);
    if (choice % 8 == 0) {
        sched_yield();
    }
    EXPECT(writing == 0 || (writing == 1 && reading == 0));
    __atomic_sub_fetch(mine, 1, __ATOMIC_SEQ_CST);
    if (write) {
        writes++;
    } else {
        __atomic_fetch_add(&reads, 1, __ATOMIC_RELAXED);
    }
    EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
}

static void *reads_and_writes(void *number)
{
    uint32_t state = (uint32_t)(uintptr_t)number * 7919;

    for (int i = 0; i < 300; i++) {
        bool write = next_random(&state) % 3 == 0;
        int error = take_any(write, next_random(&state));

        EXPECT(error == 0 || error == EBUSY || error == ETIMEDOUT);
        if (error == 0) {
            use_lock(write, next_random(&state));
        }
    }
    return NULL;
}

/* Threads that are cancelled wherever they wait for it leave it as if they had never come. */
static void t_rwlock_random(void)
{
    pthread_t tids[THREADS];
    uint32_t state = seed;

    for (int round = 0; round < 6; round++) {
        for (int i = 0; i < THREADS; i++) {
            tids[i] = begin(reads_and_writes, (void *)(uintptr_t)(round * THREADS + i + 1));
        }
        for (int i = 0; i < THREADS; i++) {
            if (next_random(&state) % 3 == 0) {
                pthread_cancel(tids[i]); /* it may have ended */
            }
        }
        for (int i = 0; i < THREADS; i++) {
            pthread_join(tids[i], NULL);
        }
        EXPECT_EQ(reading, 0);
        EXPECT_EQ(writing, 0);
        EXPECT_EQ(pthread_rwlock_trywrlock(&lock), 0);
        EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
    }
    EXPECT(reads > 0 && writes > 0);
}

static void *wants_to_write(void *unused)
{
    EXPECT_EQ(pthread_rwlock_wrlock(&lock), 0);
    EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
    return unused;
}

static void t_rwlock_rules(void)
{
    pthread_rwlock_t own;
    struct timespec past = at(CLOCK_REALTIME, 0), bad = {0, 1000000000};

    EXPECT_EQ(pthread_rwlock_init(&own, NULL), 0);
    EXPECT_EQ(pthread_rwlock_unlock(&own), EPERM);
    EXPECT_EQ(pthread_rwlock_wrlock(&own), 0);
    EXPECT_EQ(pthread_rwlock_wrlock(&own), EDEADLK);
    EXPECT_EQ(pthread_rwlock_rdlock(&own), EDEADLK);
    EXPECT_EQ(pthread_rwlock_tryrdlock(&own), EBUSY);
    EXPECT_EQ(pthread_rwlock_destroy(&own), EBUSY);
    EXPECT_EQ(pthread_rwlock_unlock(&own), 0);
    EXPECT_EQ(pthread_rwlock_destroy(&own), 0);
    EXPECT_EQ(pthread_rwlock_rdlock(&own), EINVAL);

    EXPECT_EQ(pthread_rwlock_rdlock(&lock), 0);
    EXPECT_EQ(pthread_rwlock_rdlock(&lock), 0);
    pthread_t writer = begin(wants_to_write, NULL);
    wait_state(self_pid(), writer, STATE_CONDVAR);
    EXPECT_EQ(pthread_rwlock_tryrdlock(&lock), EBUSY); /* the writer goes first */
    EXPECT_EQ(pthread_rwlock_timedrdlock(&lock, &past), ETIMEDOUT);
    EXPECT_EQ(pthread_rwlock_timedrdlock(&lock, &bad), EINVAL);
    EXPECT_EQ(pthread_cancel(writer), 0);
    join(writer);
    EXPECT_EQ(pthread_rwlock_tryrdlock(&lock), 0); /* it keeps nobody out any more */
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
    }
    EXPECT_EQ(pthread_rwlock_unlock(&lock), EPERM);
}

/* ---- condition variables, clean-up ------------------------------------------------- */

static void t_condattr(void)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_condattr_t attr;
    pthread_cond_t cond;
    clockid_t clock = 77;
    uint64_t far = 0;

    /* CLOCK_REALTIME jumps away: a wait by the other clock does not care. */
    EXPECT_EQ(pthread_condattr_init(&attr), 0);
    EXPECT_EQ(pthread_condattr_getclock(&attr, &clock), 0);
    EXPECT_EQ(clock, CLOCK_REALTIME);
    EXPECT_EQ(pthread_condattr_setclock(&attr, CLOCK_PROCESS_CPUTIME_ID), EINVAL);
    EXPECT_EQ(pthread_condattr_setclock(&attr, CLOCK_MONOTONIC), 0);
    EXPECT_EQ(pthread_condattr_setpshared(&attr, PTHREAD_PROCESS_SHARED), ENOTSUP);
    EXPECT_EQ(pthread_condattr_setpshared(&attr, PTHREAD_PROCESS_PRIVATE), 0);
    EXPECT_EQ(pthread_cond_init(&cond, &attr), 0);
    EXPECT_EQ(ClockTime(CLOCK_REALTIME, NULL, &far), 0);
    far += 3600 * 1000000000ull;
    EXPECT_EQ(ClockTime(CLOCK_REALTIME, &far, NULL), 0);
    uint64_t began = now_ns();
    struct timespec until = at(CLOCK_MONOTONIC, 4 * MS);
    EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
    EXPECT_EQ(pthread_cond_timedwait(&cond, &mutex, &until), ETIMEDOUT);
    EXPECT(now_ns() - began >= 4 * MS);
    EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
    EXPECT_EQ(pthread_cond_destroy(&cond), 0);
}

static volatile int order[8], ran;

static void note(void *number)
{
    order[ran++ % 8] = (int)(uintptr_t)number;
}

static void ends_again(void *unused)
{
    note((void *)9);
    pthread_exit(unused);
}

static void *cleans_up(void *how)
{
    pthread_cleanup_push(note, (void *)1);
    pthread_cleanup_push(ends_again, (void *)5);
    pthread_cleanup_push(note, (void *)2);
    pthread_cleanup_push(note, (void *)3);
    pthread_cleanup_pop(0);
    pthread_cleanup_push(note, (void *)4);
    pthread_cleanup_pop(1);
    if (how) {
        pthread_exit((void *)6);
    }
    sleep_ms(100000);
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    return NULL;
}

static void t_cleanup(void)
{
    static const int expected[] = {4, 2, 9, 1};

    for (int how = 0; how < 2; how++) {
        void *value = NULL;
        pthread_t tid;

        ran = 0;
        tid = begin(cleans_up, (void *)(uintptr_t)how);
        if (how == 0) {
            wait_state(self_pid(), tid, STATE_NANOSLEEP);
            EXPECT_EQ(pthread_cancel(tid), 0);
        }
        EXPECT_EQ(pthread_join(tid, &value), 0);
        EXPECT_EQ((uintptr_t)value, 5); /* a handler that ends the thread anew */
        EXPECT_EQ(ran, 4);
        for (int i = 0; i < 4; i++) {
            EXPECT_EQ(order[i], expected[i]);
        }
    }
}

/* ---- mutex attributes, robust mutexes ---------------------------------------------- */

static pthread_mutex_t robust;
static volatile int state_of_it;

static void make_robust(void)
{
    pthread_mutexattr_t attr;
    int got = 77;

    EXPECT_EQ(pthread_mutexattr_init(&attr), 0);
    EXPECT_EQ(pthread_mutexattr_getprotocol(&attr, &got), 0);
    EXPECT_EQ(got, PTHREAD_PRIO_INHERIT);
    EXPECT_EQ(pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_PROTECT), ENOTSUP);
    EXPECT_EQ(pthread_mutexattr_setprotocol(&attr, 17), EINVAL);
    EXPECT_EQ(pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_NONE), 0);
    EXPECT_EQ(pthread_mutexattr_setrobust(&attr, 17), EINVAL);
    EXPECT_EQ(pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST), 0);
    EXPECT_EQ(pthread_mutexattr_getrobust(&attr, &got), 0);
    EXPECT_EQ(got, PTHREAD_MUTEX_ROBUST);
    EXPECT_EQ(pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED), ENOTSUP);
    EXPECT_EQ(pthread_mutex_init(&robust, &attr), 0);
}

static void *dies_with_it(void *raw)
{
    EXPECT_EQ(pthread_mutex_lock(&robust), 0);
    state_of_it = 1;
    if (raw) {
        sleep_ms(100000); /* ended by ThreadDestroy() */
    }
    return NULL;
}

static int got_by_waiter;

static void *waits_for_it(void *unused)
{
    got_by_waiter = pthread_mutex_lock(&robust);
    if (got_by_waiter == EOWNERDEAD) {
        EXPECT_EQ(pthread_mutex_consistent(&robust), 0);
        EXPECT_EQ(pthread_mutex_unlock(&robust), 0);
    }
    return unused;
}

static void mend(int error)
{
    EXPECT_EQ(error, EOWNERDEAD);
    EXPECT_EQ(pthread_mutex_consistent(&robust), 0);
    EXPECT_EQ(pthread_mutex_consistent(&robust), EINVAL);
    EXPECT_EQ(pthread_mutex_unlock(&robust), 0);
    EXPECT_EQ(pthread_mutex_lock(&robust), 0);
    EXPECT_EQ(pthread_mutex_unlock(&robust), 0);
}

/* Its owner ends: by itself or from outside, with a waiter or without, and a new thread may have
 * got its tid before anybody asks. */
static void t_robust(void)
{
    struct timespec until;

    make_robust();
    EXPECT_EQ(pthread_mutex_consistent(&robust), EINVAL);
    join(begin(dies_with_it, NULL));
    mend(pthread_mutex_lock(&robust));
    join(begin(dies_with_it, NULL));
    mend(pthread_mutex_trylock(&robust));
    join(begin(dies_with_it, NULL));
    until = at(CLOCK_REALTIME, 1000 * MS);
    mend(pthread_mutex_timedlock(&robust, &until));

    for (int tries = 0; tries < 3; tries++) {
        state_of_it = 0;
        pthread_t owner = begin(dies_with_it, (void *)1);
        wait_state(self_pid(), owner, STATE_NANOSLEEP);
        EXPECT_EQ(pthread_mutex_trylock(&robust), EBUSY);
        pthread_t waiter = tries == 2 ? begin(waits_for_it, NULL) : 0;
        if (waiter) {
            wait_state(self_pid(), waiter, STATE_MUTEX);
        }
        EXPECT_EQ(ThreadDestroy(owner, -1, NULL), 0);
        join(owner);
        if (waiter) {
            join(waiter);
            EXPECT_EQ(got_by_waiter, EOWNERDEAD);
        } else {
            mend(tries ? pthread_mutex_trylock(&robust) : pthread_mutex_lock(&robust));
        }
    }
    EXPECT_EQ(pthread_mutex_destroy(&robust), 0);
}

static void t_robust_lost(void)
{
    make_robust();
    join(begin(dies_with_it, NULL));
    EXPECT_EQ(pthread_mutex_lock(&robust), EOWNERDEAD);
    pthread_t waiters[3];
    for (int i = 0; i < 3; i++) {
        waiters[i] = begin(waits_for_it, NULL);
        wait_state(self_pid(), waiters[i], STATE_MUTEX);
    }
    EXPECT_EQ(pthread_mutex_unlock(&robust), 0);
    for (int i = 0; i < 3; i++) {
        join(waiters[i]);
        EXPECT_EQ(got_by_waiter, ENOTRECOVERABLE);
    }
    EXPECT_EQ(pthread_mutex_lock(&robust), ENOTRECOVERABLE);
    EXPECT_EQ(pthread_mutex_trylock(&robust), ENOTRECOVERABLE);
    EXPECT_EQ(pthread_mutex_consistent(&robust), EINVAL);
    EXPECT_EQ(pthread_mutex_destroy(&robust), 0);
    make_robust();
    EXPECT_EQ(pthread_mutex_lock(&robust), 0);
    EXPECT_EQ(pthread_mutex_unlock(&robust), 0);
}

static volatile int deaths, mended;

/* Each locks and unlocks, and ends with it now and then; what it protects stays whole. */
static void *risks(void *number)
{
    uint32_t state = (uint32_t)(uintptr_t)number * 40503;

    for (int i = 0; i < 60; i++) {
        int error = pthread_mutex_lock(&robust);

        EXPECT(error == 0 || error == EOWNERDEAD);
        EXPECT_EQ(state_of_it, error == EOWNERDEAD);
        if (error == EOWNERDEAD) {
            state_of_it = 0;
            mended++;
            EXPECT_EQ(pthread_mutex_consistent(&robust), 0);
        }
        if (next_random(&state) % 16 == 0) {
            state_of_it = 1;
            deaths++;
            pthread_exit(NULL);
        }
        if (next_random(&state) % 4 == 0) {
            sched_yield();
        }
        EXPECT_EQ(pthread_mutex_unlock(&robust), 0);
    }
    return NULL;
}

static void t_robust_random(void)
{
    make_robust();
    state_of_it = deaths = mended = 0;
    for (int round = 0; round < 8; round++) {
        pthread_t tids[THREADS];

        for (int i = 0; i < THREADS; i++) {
            tids[i] = begin(risks, (void *)(uintptr_t)(round * THREADS + i + 1));
        }
        for (int i = 0; i < THREADS; i++) {
            join(tids[i]);
        }
    }
    int last = pthread_mutex_lock(&robust);
    EXPECT_EQ(last == EOWNERDEAD, state_of_it);
    EXPECT(deaths > 5);
    EXPECT_EQ(deaths, mended + state_of_it);
    EXPECT_EQ(pthread_mutex_unlock(&robust), 0);
}

/* As many as a thread may have, and one more. */
static void t_robust_many(void)
{
    static pthread_mutex_t many[KYMO_ROBUST_MAX + 1];

    for (int i = 0; i <= KYMO_ROBUST_MAX; i++) {
        make_robust();
        many[i] = robust;
        EXPECT_EQ(pthread_mutex_lock(&many[i]), i < KYMO_ROBUST_MAX ? 0 : EAGAIN);
    }
    EXPECT_EQ(pthread_mutex_unlock(&many[3]), 0);
    EXPECT_EQ(pthread_mutex_lock(&many[KYMO_ROBUST_MAX]), 0);
    EXPECT_EQ(pthread_mutex_unlock(&many[KYMO_ROBUST_MAX]), 0);
    for (int i = 0; i < KYMO_ROBUST_MAX; i++) {
        EXPECT_EQ(pthread_mutex_unlock(&many[i]), i == 3 ? EPERM : 0);
    }
}

static void t_revive(void)
{
    sync_t raw = {0, SYNC_MUTEX_FREE};

    EXPECT_ERR(SyncMutexRevive(&raw), EINVAL);
    EXPECT_EQ(SyncMutexLock(&raw), 0);
    EXPECT_ERR(SyncMutexRevive(&raw), EINVAL);
    EXPECT_EQ(SyncMutexUnlock(&raw), 0);
    raw.owner = 999; /* a thread that isn't */
    raw.count = SYNC_COUNT_RECURSIVE | 5;
    EXPECT_ERR(SyncMutexLock(&raw), EINVAL);
    EXPECT_EQ(raw.owner, SYNC_OWNER_DEAD);
    EXPECT_EQ(SyncMutexRevive(&raw), 0);
    EXPECT_EQ(raw.owner, self_tid());
    EXPECT_EQ(raw.count, SYNC_COUNT_RECURSIVE);
    EXPECT_ERR(SyncMutexRevive(&raw), EINVAL);
    EXPECT_EQ(SyncMutexUnlock(&raw), 0);
    EXPECT_ERR(SyncMutexRevive((sync_t *)4), EFAULT);
}

static const struct check table[] = {
    {"barrier", t_barrier},
    {"barrier freed at once", t_barrier_freed},
    {"barrier and cancellation", t_barrier_canceled},
    {"read-write lock, rules", t_rwlock_rules},
    {"read-write lock, at random", t_rwlock_random},
    {"clock of a condition variable", t_condattr},
    {"clean-up handlers", t_cleanup},
    {"robust mutex", t_robust},
    {"robust mutex, lost", t_robust_lost},
    {"robust mutex, at random", t_robust_random},
    {"robust mutexes, many", t_robust_many},
    {"SyncMutexRevive", t_revive},
};

int main(void)
{
    return check_run("posix", table, COUNT(table));
}
