/* SPDX-License-Identifier: BSD-2-Clause */
/* Lifetimes of threads, and the errors of mutexes, condition variables and semaphores. */
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

#include "apps/libtest/check.h"

static void *libtest_quick_thread(void *arg)
{
    return arg;
}

static void *libtest_endless_thread(void *arg)
{
    for (;;) {
        usleep(1000000);
    }
    return arg;
}

/* Makes more threads than fit at the same time: so the ended ones must have freed all their
 * resources. */
static void libtest_test_many(void)
{
    pthread_attr_t detached;
    pthread_t thread;
    void *value;

    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < 60; i++) {
        CHECK(pthread_create(&thread, &detached, libtest_quick_thread, NULL) == 0);
        usleep(500);
    }
    for (int i = 0; i < 60; i++) {
        CHECK(pthread_create(&thread, NULL, libtest_quick_thread, &value) == 0);
        CHECK(pthread_join(thread, &value) == 0 && value == (void *)&value);
    }
    CHECK(pthread_join(99, &value) == ESRCH);
}

void test_threads(void)
{
    pthread_t thread;
    void *value;

    libtest_test_many();
    CHECK(pthread_create(&thread, NULL, libtest_endless_thread, NULL) == 0);
    usleep(2000);
    CHECK(pthread_cancel(thread) == 0);
    CHECK(pthread_join(thread, &value) == 0 && value == PTHREAD_CANCELED);
}

static void libtest_test_mutexes(void)
{
    pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

    CHECK(pthread_mutex_lock(&plain) == 0);
    CHECK(pthread_mutex_lock(&plain) == EDEADLK);
    CHECK(pthread_mutex_trylock(&plain) == EBUSY);
    CHECK(pthread_mutex_destroy(&plain) == EBUSY);
    CHECK(pthread_mutex_unlock(&plain) == 0);
    CHECK(pthread_mutex_unlock(&plain) == EPERM);
    CHECK(pthread_mutex_destroy(&plain) == 0);
    CHECK(pthread_mutex_lock(&plain) == EINVAL);
    CHECK(pthread_mutex_lock(&recursive) == 0 && pthread_mutex_lock(&recursive) == 0);
    CHECK(pthread_mutex_unlock(&recursive) == 0 && pthread_mutex_unlock(&recursive) == 0);
    CHECK(pthread_mutex_unlock(&recursive) == EPERM);
}

static struct timespec in_ms(long ms)
{
    struct timespec at;

    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_nsec += ms * 1000000;
    at.tv_sec += at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    return at;
}

void test_sync(void)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
    struct timespec soon = in_ms(5);
    sem_t sem;

    libtest_test_mutexes();
    CHECK(pthread_cond_timedwait(&cond, &mutex, &soon) == EPERM);
    CHECK(pthread_mutex_lock(&mutex) == 0);
    CHECK(pthread_cond_timedwait(&cond, &mutex, &soon) == ETIMEDOUT);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    CHECK(pthread_cond_signal(&cond) == 0 && pthread_cond_destroy(&cond) == 0);
    CHECK(sem_init(&sem, 0, 1) == 0 && sem_trywait(&sem) == 0);
    CHECK_ERRNO(sem_trywait(&sem), EAGAIN);
    soon = in_ms(5);
    CHECK_ERRNO(sem_timedwait(&sem, &soon), ETIMEDOUT);
    CHECK(sem_post(&sem) == 0 && sem_wait(&sem) == 0);
}

/* Checks that it takes at least the requested time; much longer would be a bug, or a very busy
 * host. */
void test_time(void)
{
    struct timespec before, after, pause = {0, 20000000};

    clock_gettime(CLOCK_MONOTONIC, &before);
    CHECK(nanosleep(&pause, &pause) == 0);
    clock_gettime(CLOCK_MONOTONIC, &after);
    CHECK((after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000 >= 20);
    CHECK(pause.tv_nsec == 0 && nanosleep(&pause, NULL) == 0);
    pause.tv_nsec = 2000000000;
    CHECK_ERRNO(nanosleep(&pause, NULL), EINVAL);
    CHECK_ERRNO(clock_gettime((clockid_t)77, &after), EINVAL);
}
