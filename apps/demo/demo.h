/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the demo's programs: the sensor's readings, the filter's messages. */
#ifndef APPS_DEMO_DEMO_H
#define APPS_DEMO_DEMO_H

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define FILTER_NAME "filter"
#define SENSOR_HZ 100

enum { FILTER_READING = 0x4101, FILTER_SMOOTH = 0x4102, FILTER_STOP = 0x4103 };

struct filter_msg {
    uint16_t type; /* FILTER_* */
    uint16_t zero;
    int32_t value; /* READING: of the sensor */
};

struct filter_reply { /* of SMOOTH */
    int32_t value;    /* mean of the newest readings */
    uint32_t readings;
};

/* User events: the program's own data in the trace. */
enum {
    EVENT_READING = 200,   /* reading number, value */
    EVENT_SMOOTHED = 201,  /* client, value */
    EVENT_ITEM = 202,      /* producer's item, items waiting */
    EVENT_INVERSION = 203, /* step, priority */
    EVENT_PHASE = 210      /* text: the current step of the demo */
};

/* Speed of the demo relative to the default: work and pauses shrink, so events come closer
 * together. */
static uint32_t demo_times = 1;

/* Takes the last argument if it has the form `xTIMES`. Returns the number of those before it. */
static inline int demo_arguments(int argc, char **argv)
{
    if (argc < 2 || argv[argc - 1][0] != 'x') {
        return argc;
    }
    int times = atoi(argv[argc - 1] + 1);

    demo_times = times > 0 ? (uint32_t)times : 1;
    return argc - 1;
}

static inline void demo_pause(uint32_t us)
{
    usleep(us / demo_times);
}

/* Keeps the CPU busy for about this many iterations; the same work every time. */
static inline uint32_t demo_work(uint32_t iterations)
{
    uint32_t x = 12345;

    iterations /= demo_times;
    for (uint32_t i = 0; i < iterations; i++) {
        x = x * 1664525u + 1013904223u;
        __asm__ volatile("" : "+r"(x));
    }
    return x;
}

#endif
