/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of this folder: the counters in use, and a probe of cpc. */
#ifndef KERNEL_DTRACE_COUNT_OWN_H
#define KERNEL_DTRACE_COUNT_OWN_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/arch/count.h"

enum { COUNTERS_MOST = 31, COUNTER_NONE = 255 }; /* of a CPU: kernel/arch/count.h */

/* The counters' properties, determined once. Lock held. */
struct count_facts {
    unsigned counters; /* number of event counters on each CPU */
    bool interrupts;   /* their overflow interrupts */
    bool counts[2];    /* ARCH_COUNT_CYCLES, ARCH_COUNT_INSTRUCTIONS: the counter isn't always 0 */
    bool known;
};
const struct count_facts *count_facts(void);
/* Returns whether this machine counts the event: the CPU has it, and its counter doesn't read 0. */
bool count_event_counts(unsigned event);

/* Allocates an event counter on every CPU. Returns COUNTER_NONE if all are in use. */
unsigned count_take(void);
void count_give(unsigned n);

/* A probe of cpc, which is never freed. */
struct counted {
    struct counted *next; /* [k] in the list of all */
    uint32_t probe;       /* [I] */
    uint32_t count;       /* [I] fires each time this many events have occurred */
    uint8_t event;        /* [I] of kernel/arch/count.h */
    uint8_t modes;        /* [I] likewise */
    uint8_t counter;      /* [k] while it is enabled */
    uint64_t cpus;        /* [k] mask of CPUs on which the counter runs */
    char name[40];        /* [I] */
};

/* Starts or stops a probe's counter on a CPU. Lock held. */
void count_run(const struct counted *, unsigned cpu, bool on);
/* Returns how many times a 32-bit counter that was set to -count has counted `count` events. over,
 * value: arch_count_read(). *past: events since the last of these times. */
static inline uint32_t count_periods(uint32_t count, bool over, uint32_t value, uint32_t *past)
{
    *past = over ? value % count : 0;
    return over ? 1 + value / count : 0;
}

#endif
