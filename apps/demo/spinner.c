/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spinner: two threads that only compute, at one priority on one CPU: round-robin switches between
 * them. Argument: milliseconds, default 300.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/demo/demo.h"
#include "lib/include/kymo.h"

static uint64_t spinner_end_time;
static uint32_t spinner_rounds[2];

static uint64_t spinner_now(void)
{
    uint64_t ns = 0;

    ClockTime(CLOCK_MONOTONIC, NULL, &ns);
    return ns;
}

static void *spinner_thread(void *arg)
{
    uint32_t *count = arg;

    kymo_thread_name(count == &spinner_rounds[0] ? "spin-0" : "spin-1");
    ThreadCtl(_NTO_TCTL_RUNMASK, (void *)(uintptr_t)1);
    while (spinner_now() < spinner_end_time) {
        demo_work(20000);
        (*count)++;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;

    argc = demo_arguments(argc, argv);
    spinner_end_time =
        spinner_now() + (uint64_t)(argc > 1 ? atoi(argv[1]) : 300) * 1000000 / demo_times;
    if (pthread_create(&thread, NULL, spinner_thread, &spinner_rounds[0]) != 0) {
        printf("spinner: no thread\n");
        return 1;
    }
    spinner_thread(&spinner_rounds[1]);
    pthread_join(thread, NULL);
    printf("spinner: %u and %u rounds\n", (unsigned)spinner_rounds[0], (unsigned)spinner_rounds[1]);
    return 0;
}
