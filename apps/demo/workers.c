/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * workers: threads of one process that take turns by a mutex and a condition variable.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#include "apps/demo/demo.h"
#include "lib/include/kymo.h"

#define WORKERS 3
#define TURNS 120

static pthread_mutex_t workers_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t workers_turn_changed = PTHREAD_COND_INITIALIZER;
static unsigned workers_turn; /* [mutex] */

static void *workers_thread(void *arg)
{
    unsigned me = (unsigned)(uintptr_t)arg;
    char name[KYMO_THREAD_NAME_MAX];

    snprintf(name, sizeof(name), "worker-%u", me);
    kymo_thread_name(name);
    for (unsigned n = 0; n < TURNS; n++) {
        pthread_mutex_lock(&workers_mutex);
        while (workers_turn % WORKERS != me) {
            pthread_cond_wait(&workers_turn_changed, &workers_mutex);
        }
        workers_turn++;
        demo_work(3000);
        pthread_cond_broadcast(&workers_turn_changed);
        pthread_mutex_unlock(&workers_mutex);
        demo_pause(me == 0 ? 5000 : 1000);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[WORKERS];

    demo_arguments(argc, argv);
    for (unsigned i = 0; i < WORKERS; i++) {
        if (pthread_create(&threads[i], NULL, workers_thread, (void *)(uintptr_t)i) != 0) {
            printf("workers: no thread\n");
            return 1;
        }
    }
    for (unsigned i = 0; i < WORKERS; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("workers: %u turns\n", workers_turn);
    return 0;
}
