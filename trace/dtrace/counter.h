/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * 64-bit counters that any CPU may increment and any code may read. A processor without 64-bit
 * atomics is the only one of its board, and no probe fires on it during an increment; readers there
 * read until two readings agree.
 */
#ifndef TRACE_DTRACE_COUNTER_H
#define TRACE_DTRACE_COUNTER_H

#include <stdint.h>

#include "trace/atomic.h"

#if __GCC_ATOMIC_LLONG_LOCK_FREE == 2

static inline void dtrace_count(uint64_t *counter)
{
    trace_atomic_add(counter, 1, __ATOMIC_RELAXED);
}

static inline uint64_t dtrace_counter(const uint64_t *counter)
{
    return trace_atomic_load(counter, __ATOMIC_RELAXED);
}

#else

static inline void dtrace_count(uint64_t *counter)
{
    ++*(volatile uint64_t *)counter;
}

static inline uint64_t dtrace_counter(const uint64_t *counter)
{
    const volatile uint64_t *p = counter;
    uint64_t before, now = *p;

    do { /* terminates: increments are far rarer than these reads */
        before = now;
        now = *p;
    } while (before != now);
    return now;
}

#endif
#endif
