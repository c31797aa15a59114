/* SPDX-License-Identifier: BSD-2-Clause */
/* See heap.h. */
#include "lib/heap/heap.h"

/* Makes the event before another thread can get the address. */
static __attribute__((cold, noinline)) void told_free(HEAP_FIRST void *at)
{
    if (at && !kymo_self()->in_heap) {
        SYSTEM_PROBE_PASSED(kymo, free, at);
    }
    HEAP_REAL(free)(HEAP_PASS at);
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
