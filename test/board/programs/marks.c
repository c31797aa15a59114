/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * marks: numbered user events on every CPU until the machine stops, and on the console how far each
 * producer has come. Producer p, on CPU p, inserts user event p with d1 = n, ~n = d2, for n = 1, 2,
 * ...; every seventh is a combine event of 3 to 40 words, each of them n. `mark P N`: event N has
 * been recorded. In each second boot since the memory was without power, producer 0 has the kernel
 * panic after PANIC_AT events. For test/board/flight.py.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "abi/sys/kymo.h"
#include "abi/sys/neutrino.h"
#include "abi/sys/trace.h"
#include "lib/include/kymo.h"

#define MARK_EVERY 499
#define PANIC_AT 5000

static bool panics;

static void event(unsigned p, uint32_t n)
{
    uint32_t words[40];
    unsigned count = 3 + n % 38;

    if (n % 7) {
        TraceEvent(_NTO_TRACE_INSERTSUSEREVENT, p, n, ~n);
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        words[i] = n;
    }
    TraceEvent(_NTO_TRACE_INSERTCUSEREVENT, p, words, count);
}

static void *produce(void *arg)
{
    unsigned p = (unsigned)(uintptr_t)arg;
    char name[16];

    snprintf(name, sizeof(name), "producer %u", p);
    kymo_thread_name(name);
    for (uint32_t n = 1;; n++) {
        event(p, n);
        if (panics && p == 0 && n == PANIC_AT) {
            SystemCtl(KYMO_SYSTEM_PANIC, 0);
        }
        if (n % MARK_EVERY == 0) {
            char text[48];
            int bytes = snprintf(text, sizeof(text), "mark %u %lu\n", p, (unsigned long)n);

            write(1, text, (size_t)bytes);
        }
    }
    return NULL;
}

int main(void)
{
    struct kymo_retained info;
    pthread_t thread;

    panics = TraceEvent(KYMO_TRACE_QUERYRETAINED, &info) == 0 && info.boots % 2 == 0;

    for (unsigned p = 0; p < kymo_cpus(); p++) {
        pthread_attr_t attr;

        if (!(kymo_cpu_mask() >> p & 1)) {
            continue;
        }
        pthread_attr_init(&attr);
        pthread_attr_setrunmask_np(&attr, UINT32_C(1) << p);
        if (pthread_create(&thread, &attr, produce, (void *)(uintptr_t)p) != 0) {
            printf("marks: no thread\n");
            return 1;
        }
    }
    pthread_join(thread, NULL);
    return 0;
}
