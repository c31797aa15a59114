/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evstorm: makes events as fast as it can, each numbered by its producer, so that a reader can
 * count the missing ones without relying on the ring's own counters.
 *
 *   evstorm [THREADS [EVENTS]]      default: one thread per CPU, 100000 events each
 *
 * Thread p of 0.. inserts user events with number p, d1 = low and d2 = high word of a counter that
 * runs from 0 to EVENTS - 1. Threads are distributed over the CPUs and start together. At its end
 * it prints one line per producer: `evstorm: producer P made N`, and the total. A refused event
 * stops its thread, and the status is 1.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/include/kymo.h"
#include "lib/include/sys/neutrino_r.h"
#include "abi/sys/trace.h"

#define PRODUCERS 15 /* one less than a process's limit of threads */

static struct {
    pthread_t thread;
    uint64_t made;
    int error;
} producers[PRODUCERS];
#define EVENTS 100000
#define TURN 1024 /* events */

static uint64_t evstorm_events = EVENTS;
static sem_t evstorm_go_sem;

static void *evstorm_produce_events(void *arg)
{
    unsigned p = (unsigned)(uintptr_t)arg;
    uint64_t n = 0;
    int error = 0;

    sem_wait(&evstorm_go_sem);
    while (n < evstorm_events && error >= 0) {
        error = TraceEvent_r(_NTO_TRACE_INSERTSUSEREVENT, p, (uint32_t)n, (uint32_t)(n >> 32));
        n += error >= 0;
        if (n % TURN == 0) {
            kymo_spin_hint(); /* an emulator that runs CPUs in turn then runs the logger's CPU */
        }
    }
    producers[p].made = n;
    producers[p].error = error;
    return NULL;
}

/* Returns the CPU of producer p, as a run mask: the CPUs that run take turns. */
static uint32_t evstorm_cpu_of(unsigned p)
{
    uint32_t rest = kymo_cpu_mask();

    for (unsigned n = p % (unsigned)__builtin_popcount(rest); n > 0; n--) {
        rest &= rest - 1;
    }
    return rest & (0 - rest);
}

static int evstorm_start_producers(unsigned p)
{
    pthread_attr_t attr;

    pthread_attr_init(&attr);
    pthread_attr_setrunmask_np(&attr, evstorm_cpu_of(p));
    return pthread_create(&producers[p].thread, &attr, evstorm_produce_events,
                          (void *)(uintptr_t)p);
}

/* Returns the number of threads that could be started. */
static unsigned start_all(unsigned count)
{
    for (unsigned p = 0; p < count; p++) {
        int error = evstorm_start_producers(p);

        if (error != 0) {
            printf("evstorm: producer %u: %s\n", p, strerror(error));
            return p;
        }
    }
    return count;
}

static bool evstorm_print_report(unsigned p)
{
    printf("evstorm: producer %u made %llu\n", p, (unsigned long long)producers[p].made);
    if (producers[p].error < 0) {
        printf("evstorm: producer %u: %s\n", p, strerror(-producers[p].error));
    }
    return producers[p].error >= 0;
}

static int evstorm_usage(int status)
{
    printf("usage: evstorm [THREADS [EVENTS]]\n"
           "Writes trace events as fast as it can.\n"
           "  THREADS   1 to %d; without: one a CPU\n"
           "  EVENTS    of each thread; without: %d\n",
           PRODUCERS, EVENTS);
    return status;
}

static bool evstorm_parse_number(const char *text, uint64_t *value)
{
    char *end;

    *value = strtoull(text, &end, 0);
    return *text >= '0' && *text <= '9' && *end == '\0';
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        return evstorm_usage(0);
    }
    uint64_t wanted = (uint64_t)__builtin_popcount(kymo_cpu_mask()), total = 0;

    if (argc > 3 || (argc > 1 && !evstorm_parse_number(argv[1], &wanted)) ||
        (argc > 2 && !evstorm_parse_number(argv[2], &evstorm_events)) || wanted == 0 ||
        wanted > PRODUCERS) {
        return evstorm_usage(2);
    }
    sem_init(&evstorm_go_sem, 0, 0);
    unsigned count = start_all((unsigned)wanted);
    bool good = count == wanted;
    for (unsigned p = 0; p < count; p++) {
        sem_post(&evstorm_go_sem);
    }
    for (unsigned p = 0; p < count; p++) {
        pthread_join(producers[p].thread, NULL);
    }
    for (unsigned p = 0; p < count; p++) {
        good &= evstorm_print_report(p);
        total += producers[p].made;
    }
    printf("evstorm: total %llu of %u producers\n", (unsigned long long)total, count);
    return good ? 0 : 1;
}
