/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inversion: priority inversion, the classic case. A low thread holds a mutex that a high one
 * wants, while a middle one keeps the CPU. Without inheritance the high one waits for the middle
 * one; here the low one runs at the high one's priority until it unlocks. All threads run on CPU 0,
 * so that it is visible on any machine.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/trace.h>

#include "apps/demo/demo.h"
#include "lib/include/kymo.h"

#define EPISODES 5
#define LOW 11
#define MIDDLE 12
#define HIGH 13

static pthread_mutex_t inversion_mutex = PTHREAD_MUTEX_INITIALIZER;
static uint32_t high_waited_us, middle_took_us;
static uint32_t per_ms; /* iterations of demo_work() in a millisecond of this machine */

static uint32_t now_us(void)
{
    uint64_t ns = 0;

    ClockTime(CLOCK_MONOTONIC, NULL, &ns);
    return (uint32_t)(ns / 1000);
}

static void *inversion_low_thread(void *arg)
{
    (void)arg;
    kymo_thread_name("low");
    pthread_mutex_lock(&inversion_mutex);
    trace_logi(EVENT_INVERSION, 1, LOW);
    demo_work(4 * per_ms / demo_times);
    pthread_mutex_unlock(&inversion_mutex);
    return NULL;
}

static void *inversion_middle_thread(void *arg)
{
    uint32_t begun;

    (void)arg;
    kymo_thread_name("middle");
    demo_pause(2000);
    begun = now_us();
    trace_logi(EVENT_INVERSION, 2, MIDDLE);
    demo_work(10 * per_ms / demo_times);
    middle_took_us = now_us() - begun;
    return NULL;
}

static void *inversion_high_thread(void *arg)
{
    uint32_t begun;

    (void)arg;
    kymo_thread_name("high");
    demo_pause(1000);
    begun = now_us();
    pthread_mutex_lock(&inversion_mutex);
    high_waited_us = now_us() - begun;
    trace_logi(EVENT_INVERSION, 3, HIGH);
    pthread_mutex_unlock(&inversion_mutex);
    return NULL;
}

static int inversion_start_thread(pthread_t *thread, void *(*func)(void *), int priority)
{
    struct sched_param param = {priority};
    pthread_attr_t attr;

    pthread_attr_init(&attr);
    pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
    pthread_attr_setschedparam(&attr, &param);
    pthread_attr_setrunmask_np(&attr, 1);
    return pthread_create(thread, &attr, func, NULL);
}

static int inversion_run_episode(void)
{
    pthread_t threads[3];

    if (inversion_start_thread(&threads[0], inversion_low_thread, LOW) != 0 ||
        inversion_start_thread(&threads[1], inversion_middle_thread, MIDDLE) != 0 ||
        inversion_start_thread(&threads[2], inversion_high_thread, HIGH) != 0) {
        printf("inversion: no thread\n");
        return 1;
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}

/* Returns the shortest of some samples: the others were disturbed. */
static void inversion_calibrate_spin(void)
{
    const uint32_t sample = 200000;
    uint32_t quickest = UINT32_MAX;

    for (int i = 0; i < 8; i++) {
        uint32_t begun = now_us();

        demo_work(sample);
        uint32_t took = now_us() - begun;
        quickest = took < quickest ? took : quickest;
    }
    per_ms = (uint32_t)((uint64_t)sample * 1000 / (quickest ? quickest : 1));
}

int main(int argc, char **argv)
{
    demo_arguments(argc, argv);
    inversion_calibrate_spin();
    for (int i = 0; i < EPISODES; i++) {
        if (inversion_run_episode() != 0) {
            return 1;
        }
        demo_pause(20000);
    }
    printf("inversion: high waited %u us while middle had %u us to run\n", (unsigned)high_waited_us,
           (unsigned)middle_took_us);
    return 0;
}
