/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the files of this folder: which counters are in use, and a probe of cpc. */
#ifndef KERNEL_DTRACE_COUNT_OWN_H
#define KERNEL_DTRACE_COUNT_OWN_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/arch/count.h"

enum { COUNTERS_MOST = 31, COUNTER_NONE = 255 }; /* of a CPU: kernel/arch/count.h */

/* What the counters are, found out once. Lock held. */
struct count_facts {
    unsigned counters; /* of events, on each CPU */
    bool interrupts;   /* their overflow does */
    bool counts[2];    /* ARCH_COUNT_CYCLES, ARCH_COUNT_INSTRUCTIONS: it isn't always 0 */
    bool known;
};
const struct count_facts *count_facts(void);
/* Returns whether the event can be counted here: the CPU has it, and its counter doesn't read 0. */
bool count_event_counts(unsigned event);

/* Takes a counter of events of every CPU; COUNTER_NONE: all are in use. */
unsigned count_take(void);
void count_give(unsigned n);

/* A probe of cpc, which is never freed. */
struct counted {
    struct counted *next; /* [k] all of them */
    uint32_t probe;       /* [I] */
    uint32_t count;       /* [I] fires each so many events */
    uint8_t event;        /* [I] of kernel/arch/count.h */
    uint8_t modes;        /* [I] likewise */
    uint8_t counter;      /* [k] while it is enabled */
    uint64_t cpus;        /* [k] mask of CPUs on which the counter runs */
    char name[40];        /* [I] */
};

/* Has a probe's counter run on a CPU, or not. Lock held. */
void count_run(const struct counted *, unsigned cpu, bool on);
/* Returns how many whole times `count` a counter of 32 bits has gone round, which was set to
 * -count: over, value: arch_count_read(). *past: events since the last time. */
static inline uint32_t count_periods(uint32_t count, bool over, uint32_t value, uint32_t *past)
{
    *past = over ? value % count : 0;
    return over ? 1 + value / count : 0;
}

#endif
