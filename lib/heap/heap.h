/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The static probes of the heap: functions around the C library's (--wrap, lib/lib.mk), through
 * which its own allocations go, too. lib/libc/<libc>/heap.h says how that library names them:
 *
 *   HEAP_REAL(malloc), HEAP_WRAP(malloc)   __real_malloc and __wrap_malloc, or what it is called
 *   HEAP_FIRST, HEAP_PASS                  a parameter before the others, and its argument
 *
 * Off, each is three instructions, the last a jump: the real function's caller is the program's.
 * On, only the outermost of a thread's calls is told: realloc() that moves is one event. A file for
 * each: a program that has its own malloc() must not get the library's by way of another.
 */
#ifndef LIB_HEAP_HEAP_H
#define LIB_HEAP_HEAP_H

#include <stddef.h>

#include KYMO_HEAP_H
#include "lib/thread.h"
#include SYSTEM_PROBE_H

void *HEAP_REAL(malloc)(HEAP_FIRST size_t bytes);
void *HEAP_REAL(realloc)(HEAP_FIRST void *old, size_t bytes);
void HEAP_REAL(free)(HEAP_FIRST void *at);
void *HEAP_WRAP(malloc)(HEAP_FIRST size_t bytes);
void *HEAP_WRAP(realloc)(HEAP_FIRST void *old, size_t bytes);
void HEAP_WRAP(free)(HEAP_FIRST void *at);

/* Of memalign() and aligned_alloc(). */
#define HEAP_ALIGNED(name) \
    void *HEAP_REAL(name)(HEAP_FIRST size_t align, size_t bytes); \
    void *HEAP_WRAP(name)(HEAP_FIRST size_t align, size_t bytes); \
    static \
        __attribute__((cold, noinline)) void *told_##name(HEAP_FIRST size_t align, size_t bytes) \
    { \
        struct kymo_tcb *self = kymo_self(); \
        bool outermost = !self->in_heap; \
        self->in_heap = true; \
        void *at = HEAP_REAL(name)(HEAP_PASS align, bytes); \
        if (outermost) { \
            self->in_heap = false; \
            SYSTEM_PROBE_PASSED(kymo, malloc, (unsigned long)bytes, at); \
        } \
        return at; \
    } \
    void *HEAP_WRAP(name)(HEAP_FIRST size_t align, size_t bytes) \
    { \
        SYSTEM_PROBE_ENTRY(); \
        return SYSTEM_PROBE_ENABLED() ? told_##name(HEAP_PASS align, bytes) \
                                      : HEAP_REAL(name)(HEAP_PASS align, bytes); \
    }

#endif
