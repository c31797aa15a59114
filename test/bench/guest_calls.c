/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What programs do besides messages, each ROUNDS times between two marks, in the order of
 * LONG_NAMES in test/bench/bench.
 *
 *   bench_calls [PROGRAM]   PROGRAM, else itself, is the process that it spawns:
 *   bench_calls end
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "test/bench/mark.h"

enum { INTERVAL_CALLS = 7, ROUNDS = 20 };

static int failed(const char *what, int error)
{
    printf("bench_calls: %s: %s\n", what, strerror(error));
    return 1;
}

/* Runs `function` on a thread of this priority above the caller's. */
static int start(pthread_t *thread, void *(*function)(void *), int above)
{
    pthread_attr_t attr;
    struct sched_param param;
    int policy;

    pthread_getschedparam(pthread_self(), &policy, &param);
    param.sched_priority += above;
    pthread_attr_init(&attr);
    pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attr, policy);
    pthread_attr_setschedparam(&attr, &param);
    return pthread_create(thread, &attr, function, NULL);
}

/* ---- yield_switch: one of two equal threads gives way, the other returns from that -- */

static volatile int yields;

static void *yield(void *unused)
{
    (void)unused;
    while (yields <= ROUNDS) { /* the first one is not closed: main was not in here yet */
        yields++;
        OPEN(INTERVAL_CALLS);
        sched_yield();
        CLOSE(INTERVAL_CALLS);
    }
    return NULL;
}

static int yield_switch(void)
{
    pthread_t other;
    int error = start(&other, yield, 0);

    if (error) {
        return failed("pthread_create", error);
    }
    sched_yield();
    yield(NULL);
    pthread_join(other, NULL);
    return 0;
}

/* ---- sem_wake: from sem_post() to the return of a higher thread's sem_wait() --------- */

static sem_t posted;

static void *wait_for_post(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        sem_wait(&posted);
        CLOSE(INTERVAL_CALLS);
    }
    return NULL;
}

static int sem_wake(void)
{
    pthread_t waiter;

    sem_init(&posted, 0, 0);
    int error = start(&waiter, wait_for_post, 1);
    if (error) {
        return failed("pthread_create", error);
    }
    for (int i = 0; i < ROUNDS; i++) {
        OPEN(INTERVAL_CALLS);
        sem_post(&posted);
    }
    pthread_join(waiter, NULL);
    sem_destroy(&posted);
    return 0;
}

/* ---- threads and processes --------------------------------------------------------- */

static void *nothing(void *unused)
{
    return unused;
}

static int thread_create_join(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_t thread;

        OPEN(INTERVAL_CALLS);
        int error = pthread_create(&thread, NULL, nothing, NULL);
        error = error ? error : pthread_join(thread, NULL);
        CLOSE(INTERVAL_CALLS);
        if (error) {
            return failed("pthread_create", error);
        }
    }
    return 0;
}

static int spawn_exit_wait(char *program)
{
    char *argv[] = {program, "end", NULL}, *envp[] = {NULL};

    for (int i = 0; i < ROUNDS; i++) {
        pid_t pid;
        int status;

        OPEN(INTERVAL_CALLS);
        int error = posix_spawn(&pid, argv[0], NULL, NULL, argv, envp);
        if (!error && waitpid(pid, &status, 0) != pid) {
            error = errno;
        }
        CLOSE(INTERVAL_CALLS);
        if (error) {
            return failed("posix_spawn", error);
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "end") == 0) {
        return 0;
    }
    return yield_switch() != 0 || sem_wake() != 0 || thread_create_join() != 0 ||
           spawn_exit_wait(argc == 2 ? argv[1] : argv[0]) != 0;
}
