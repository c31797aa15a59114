/* SPDX-License-Identifier: BSD-2-Clause */
/* See heap.h. */
#include "lib/heap/heap.h"

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

void *HEAP_WRAP(realloc)(HEAP_FIRST void *old, size_t bytes)
{
    SYSTEM_PROBE_ENTRY();
    return SYSTEM_PROBE_ENABLED() ? told_realloc(HEAP_PASS old, bytes)
                                  : HEAP_REAL(realloc)(HEAP_PASS old, bytes);
}
