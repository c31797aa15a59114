/* SPDX-License-Identifier: BSD-2-Clause */
/* See heap.h. */
#include "lib/heap/heap.h"

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

void *HEAP_WRAP(malloc)(HEAP_FIRST size_t bytes)
{
    SYSTEM_PROBE_ENTRY();
    return SYSTEM_PROBE_ENABLED() ? told_malloc(HEAP_PASS bytes)
                                  : HEAP_REAL(malloc)(HEAP_PASS bytes);
}
