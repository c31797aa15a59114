/* SPDX-License-Identifier: BSD-2-Clause */
/* pipeline: a producer and a consumer thread with a bounded buffer between them, counted by
 * semaphores. */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/trace.h>

#include "apps/demo/demo.h"
#include "lib/include/kymo.h"

#define ITEMS 400
#define ROOM 8

static uint32_t pipeline_items[ROOM]; /* [used, room] */
static sem_t pipeline_used_sem, pipeline_room_sem;

static void *pipeline_produce_items(void *arg)
{
    (void)arg;
    kymo_thread_name("producer");
    for (uint32_t n = 0; n < ITEMS; n++) {
        int waiting;

        demo_work(2000);
        sem_wait(&pipeline_room_sem);
        pipeline_items[n % ROOM] = n;
        sem_post(&pipeline_used_sem);
        sem_getvalue(&pipeline_used_sem, &waiting);
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
    sem_init(&pipeline_used_sem, 0, 0);
    sem_init(&pipeline_room_sem, 0, ROOM);
    if (pthread_create(&producer, NULL, pipeline_produce_items, NULL) != 0) {
        printf("pipeline: no thread\n");
        return 1;
    }
    kymo_thread_name("consumer");
    for (uint32_t n = 0; n < ITEMS; n++) {
        sem_wait(&pipeline_used_sem);
        wrong += pipeline_items[n % ROOM] != n;
        sem_post(&pipeline_room_sem);
        demo_work(3000);
    }
    pthread_join(producer, NULL);
    printf("pipeline: %d items, %u wrong\n", ITEMS, (unsigned)wrong);
    return wrong != 0;
}
