/* SPDX-License-Identifier: BSD-2-Clause */
/* pipeline: a producer and a consumer thread with a bounded buffer between, kept by semaphores. */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/trace.h>

#include "apps/demo/demo.h"
#include "lib/include/kymo.h"

#define ITEMS 400
#define ROOM 8

static uint32_t items[ROOM]; /* [used, room] */
static sem_t used, room;

static void *produce(void *arg)
{
    (void)arg;
    kymo_thread_name("producer");
    for (uint32_t n = 0; n < ITEMS; n++) {
        int waiting;

        demo_work(2000);
        sem_wait(&room);
        items[n % ROOM] = n;
        sem_post(&used);
        sem_getvalue(&used, &waiting);
        trace_logi(EVENT_ITEM, n, (unsigned)waiting);
        if (n % ROOM == 0) {
            demo_pause(8000);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t producer;
    uint32_t wrong = 0;

    demo_arguments(argc, argv);
    sem_init(&used, 0, 0);
    sem_init(&room, 0, ROOM);
    if (pthread_create(&producer, NULL, produce, NULL) != 0) {
        printf("pipeline: no thread\n");
        return 1;
    }
    kymo_thread_name("consumer");
    for (uint32_t n = 0; n < ITEMS; n++) {
        sem_wait(&used);
        wrong += items[n % ROOM] != n;
        sem_post(&room);
        demo_work(3000);
    }
    pthread_join(producer, NULL);
    printf("pipeline: %d items, %u wrong\n", ITEMS, (unsigned)wrong);
    return wrong != 0;
}
