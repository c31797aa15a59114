/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counters of 64 bits that any CPU may raise and anyone may read. A processor that can't do that in
 * one go is the only one of its board, and nothing fires on it while a firing counts; who reads
 * there reads until two readings agree.
 */
#ifndef TRACE_DTRACE_COUNTER_H
#define TRACE_DTRACE_COUNTER_H

#include <stdint.h>

#if __GCC_ATOMIC_LLONG_LOCK_FREE == 2

static inline void dtrace_count(uint64_t *counter)
{
    __atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
}

static inline uint64_t dtrace_counter(const uint64_t *counter)
{
    return __atomic_load_n(counter, __ATOMIC_RELAXED);
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

    do { /* ends: it is raised far less often than it is read here */
        before = now;
        now = *p;
    } while (before != now);
    return now;
}

#endif
#endif
