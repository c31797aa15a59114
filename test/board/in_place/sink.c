/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sink: the end of the pipeline sensor, filter, sink, in 128 KB of RAM. A thread asks the filter
 * for its means, and the main thread takes them from it under a mutex. Argument: how many. Prints
 * how many came, and stops the filter.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/dispatch.h>

#include "abi/sys/neutrino.h"
#include "apps/demo/demo.h"

#define PAUSE_US 20000
#define THREAD_STACK 1024

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static unsigned asked, wanted; /* under the lock */
static int filter;

static void *ask(void *arg)
{
    for (unsigned n = 0; n < wanted; n++) {
        struct filter_msg msg = {FILTER_SMOOTH, 0, 0};
        struct filter_reply reply;

        if (MsgSend(filter, &msg, sizeof(msg), &reply, sizeof(reply)) < 0) {
            perror("sink");
            exit(1);
        }
        pthread_mutex_lock(&lock);
        asked++;
        pthread_cond_signal(&more);
        pthread_mutex_unlock(&lock);
        usleep(PAUSE_US);
    }
    return arg;
}

int main(int argc, char **argv)
{
    struct filter_msg stop = {FILTER_STOP, 0, 0};
    pthread_attr_t small;
    pthread_t thread;
    unsigned seen = 0;

    wanted = argc > 1 ? (unsigned)atoi(argv[1]) : 50;
    filter = name_open(FILTER_NAME, 0);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, THREAD_STACK);
    if (filter < 0 || pthread_create(&thread, &small, ask, NULL) != 0) {
        perror("sink");
        return 1;
    }
    while (seen < wanted) {
        pthread_mutex_lock(&lock);
        while (asked == seen) {
            pthread_cond_wait(&more, &lock);
        }
        seen = asked;
        pthread_mutex_unlock(&lock);
    }
    pthread_join(thread, NULL);
    if (MsgSend(filter, &stop, sizeof(stop), NULL, 0) < 0) {
        perror("sink: filter");
        return 1;
    }
    printf("sink: %u values\n", seen);
    return 0;
}
