/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The heap: one fixed piece of memory, sized at spawn (`heap=` in a start script). Only the C
 * library's malloc() may call this, with its own lock held.
 */
#include <errno.h>
#include <stdint.h>

#include "lib/libc/syscalls.h"
#include "lib/startup.h"
#include SYSTEM_PROBE_H

static char *heap_next;

static char *heap_now(void)
{
    if (!heap_next) {
        heap_next = kymo_startup->heap_start;
    }
    return heap_next;
}

void *kymo_sbrk(ptrdiff_t change)
{
    char *old = heap_now();
    char *low = kymo_startup->heap_start;
    char *high = kymo_startup->heap_end;

    if (change > high - old || change < low - old) {
        const long wanted = change, left = high - old;
        SYSTEM_PROBE(kymo, heap__full, wanted, left);
        errno = ENOMEM;
        return (void *)-1;
    }
    heap_next = old + change;
    const long grown = change, used = heap_next - low, left = high - heap_next;
    SYSTEM_PROBE(kymo, heap__grow, grown, used, left);
    return old;
}

void *kymo_heap_carve(size_t bytes, size_t align)
{
    uintptr_t start = ((uintptr_t)heap_now() + align - 1) & ~(uintptr_t)(align - 1);
    uintptr_t high = (uintptr_t)kymo_startup->heap_end;

    if (start > high || bytes > high - start) {
        return NULL;
    }
    heap_next = (char *)start + bytes;
    kymo_startup->heap_start = heap_next;
    return (void *)start;
}
