/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inversions that inheritance does not cure, over and over, for the ready scripts: a high thread
 * waits for a low one, by a semaphore, and for the reply of a server whose channel forbids
 * inheritance, while a middle one keeps the CPU. Each step wakes the next, all on CPU 0, so that
 * it shows on any machine. test/dtrace/scripts.py.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/neutrino.h>
#include <unistd.h>

#include "lib/include/kymo.h"

enum { SERVER = 10, LOW = 11, MIDDLE = 12, HIGH = 13, PAUSE_US = 50000, COMPUTES_NS = 2000000 };

static sem_t resource, go_high, go_middle;
static int chid, coid;

static void *server(void *arg)
{
    uint32_t message;

    for (;;) {
        int rcvid = MsgReceive(chid, &message, sizeof(message), NULL);
        sem_post(&go_middle); /* which runs at once, for the client's priority isn't inherited */
        MsgReply(rcvid, 0, NULL, 0);
    }
    return arg;
}

static void *low(void *arg)
{
    for (;;) {
        usleep(PAUSE_US);
        sem_wait(&resource);
        sem_post(&go_high);   /* it runs until it wants the resource */
        sem_post(&go_middle); /* it runs, and the high one waits */
        sem_post(&resource);
    }
    return arg;
}

static void *middle(void *arg)
{
    for (;;) {
        uint64_t now = 0, begun;

        sem_wait(&go_middle);
        ClockTime(CLOCK_MONOTONIC, NULL, &begun);
        do {
            ClockTime(CLOCK_MONOTONIC, NULL, &now);
        } while (now - begun < COMPUTES_NS);
    }
    return arg;
}

static void *high(void *arg)
{
    uint32_t message = 1;

    for (;;) {
        sem_wait(&go_high);
        sem_wait(&resource);
        sem_post(&resource);
        MsgSend(coid, &message, sizeof(message), NULL, 0);
    }
    return arg;
}

static bool start(pthread_t *thread, void *(*func)(void *), int priority)
{
    struct sched_param param = {priority};
    pthread_attr_t attr;

    pthread_attr_init(&attr);
    pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
    pthread_attr_setschedparam(&attr, &param);
    pthread_attr_setrunmask_np(&attr, 1);
    return pthread_create(thread, &attr, func, NULL) == 0;
}

int main(void)
{
    pthread_t thread;

    chid = ChannelCreate(_NTO_CHF_FIXED_PRIORITY);
    coid = ConnectAttach(0, 0, chid, 0, 0);
    sem_init(&resource, 0, 1);
    sem_init(&go_high, 0, 0);
    sem_init(&go_middle, 0, 0);
    if (chid < 0 || coid < 0 || !start(&thread, server, SERVER) || !start(&thread, high, HIGH) ||
        !start(&thread, middle, MIDDLE) || !start(&thread, low, LOW)) {
        return 1;
    }
    pthread_join(thread, NULL);
    return 1;
}
