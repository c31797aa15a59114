/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The static probes of the heap: functions around the C library's (--wrap, lib/lib.mk), through
 * which its own allocations go, too. A file of a C library's port includes this once, after it has
 * said how that library names them:
 *
 *   HEAP_REAL(malloc), HEAP_WRAP(malloc)   __real_malloc and __wrap_malloc, or what it is called
 *   HEAP_FIRST, HEAP_PASS                  a parameter before the others, and its argument
 *
 * Off, each is three instructions, the last a jump: the real function's caller is the program's.
 * On, only the outermost of a thread's calls is told: realloc() that moves is one event.
 */
#ifndef LIB_HEAP_PROBES_H
#define LIB_HEAP_PROBES_H

#include <stddef.h>

#include "lib/thread.h"
#include SYSTEM_PROBE_H

void *HEAP_REAL(malloc)(HEAP_FIRST size_t bytes);
void *HEAP_REAL(realloc)(HEAP_FIRST void *old, size_t bytes);
void *HEAP_REAL(memalign)(HEAP_FIRST size_t align, size_t bytes);
void HEAP_REAL(free)(HEAP_FIRST void *at);
void *HEAP_WRAP(malloc)(HEAP_FIRST size_t bytes);
void *HEAP_WRAP(realloc)(HEAP_FIRST void *old, size_t bytes);
void *HEAP_WRAP(memalign)(HEAP_FIRST size_t align, size_t bytes);
void HEAP_WRAP(free)(HEAP_FIRST void *at);

/* ---- on ---------------------------------------------------------------------------- */

static __attribute__((cold, noinline)) void *told_malloc(HEAP_FIRST size_t bytes)
{
    struct kymo_tcb *self = kymo_self();
    bool outermost = !self->in_heap;

    self->in_heap = true;
    void *at = HEAP_REAL(malloc)(HEAP_PASS bytes);
    if (outermost) {
        self->in_heap = false;
        SYSTEM_PROBE_PASSED(kymo, malloc, (unsigned long)bytes, at);
    }
    return at;
}

static __attribute__((cold, noinline)) void *told_realloc(HEAP_FIRST void *old, size_t bytes)
{
    struct kymo_tcb *self = kymo_self();
    bool outermost = !self->in_heap;

    self->in_heap = true;
    void *at = HEAP_REAL(realloc)(HEAP_PASS old, bytes);
    if (outermost) {
        self->in_heap = false;
        SYSTEM_PROBE_PASSED(kymo, realloc, old, (unsigned long)bytes, at);
    }
    return at;
}

static __attribute__((cold, noinline)) void *told_memalign(HEAP_FIRST size_t align, size_t bytes)
{
    struct kymo_tcb *self = kymo_self();
    bool outermost = !self->in_heap;

    self->in_heap = true;
    void *at = HEAP_REAL(memalign)(HEAP_PASS align, bytes);
    if (outermost) {
        self->in_heap = false;
        SYSTEM_PROBE_PASSED(kymo, malloc, (unsigned long)bytes, at);
    }
    return at;
}

/* Told before another thread can get the address. */
static __attribute__((cold, noinline)) void told_free(HEAP_FIRST void *at)
{
    if (at && !kymo_self()->in_heap) {
        SYSTEM_PROBE_PASSED(kymo, free, at);
    }
    HEAP_REAL(free)(HEAP_PASS at);
}

/* ---- off --------------------------------------------------------------------------- */

void *HEAP_WRAP(malloc)(HEAP_FIRST size_t bytes)
{
    SYSTEM_PROBE_ENTRY();
    return SYSTEM_PROBE_ENABLED() ? told_malloc(HEAP_PASS bytes)
                                  : HEAP_REAL(malloc)(HEAP_PASS bytes);
}

void *HEAP_WRAP(realloc)(HEAP_FIRST void *old, size_t bytes)
{
    SYSTEM_PROBE_ENTRY();
    return SYSTEM_PROBE_ENABLED() ? told_realloc(HEAP_PASS old, bytes)
                                  : HEAP_REAL(realloc)(HEAP_PASS old, bytes);
}

void *HEAP_WRAP(memalign)(HEAP_FIRST size_t align, size_t bytes)
{
    SYSTEM_PROBE_ENTRY();
    return SYSTEM_PROBE_ENABLED() ? told_memalign(HEAP_PASS align, bytes)
                                  : HEAP_REAL(memalign)(HEAP_PASS align, bytes);
}

void HEAP_WRAP(free)(HEAP_FIRST void *at)
{
    SYSTEM_PROBE_ENTRY();
    if (SYSTEM_PROBE_ENABLED()) {
        told_free(HEAP_PASS at);
        return;
    }
    HEAP_REAL(free)(HEAP_PASS at);
}

#endif
