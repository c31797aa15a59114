/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The static probes of the heap: wrappers of the C library's functions (--wrap, lib/lib.mk), which
 * its own allocations call, too. lib/libc/<libc>/heap.h has that library's names of them:
 *
 *   HEAP_REAL(malloc), HEAP_WRAP(malloc)   __real_malloc and __wrap_malloc, or what it is called
 *   HEAP_FIRST, HEAP_PASS                  a parameter before the others, and its argument
 *
 * While the probes are off, each wrapper is three instructions, of which the last jumps to the real
 * function, so that its caller is the program. While they are on, only the outermost of a thread's
 * calls makes an event, so a realloc() that moves makes one. Each wrapper has its own file: a
 * program with its own malloc() must not link the library's through another wrapper.
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

/* Declares memalign() and aligned_alloc(). */
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
