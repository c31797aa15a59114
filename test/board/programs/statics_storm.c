/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that pass static probes as fast as they can, their own and the library's, on all CPUs:
 * test/board/statics.py counts each pass.
 */
#include <kymo_probe.h>
#include <pthread.h>
#include <stdint.h>

enum { THREADS = 4, PASSES = 2000 };

static pthread_mutex_t mutexes[THREADS];

static void *passes(void *arg)
{
    const uintptr_t number = (uintptr_t)arg;

    for (unsigned i = 0; i < PASSES; i++) {
        KYMO_PROBE(storm, passed, number, i);
        pthread_mutex_lock(&mutexes[number]);
        pthread_mutex_unlock(&mutexes[number]);
    }
    return NULL;
}

/* The first of the threads is main()'s: a small board's process may have four. */
int main(void)
{
    pthread_t threads[THREADS];
    int status = 0;

    for (uintptr_t i = 0; i < THREADS; i++) {
        pthread_mutex_init(&mutexes[i], NULL);
    }
    for (uintptr_t i = 1; i < THREADS; i++) {
        status |= pthread_create(&threads[i], NULL, passes, (void *)i);
    }
    passes(NULL);
    for (unsigned i = 1; i < THREADS && status == 0; i++) {
        pthread_join(threads[i], NULL);
    }
    return status;
}
