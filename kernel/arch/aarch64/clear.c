/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Zeroes memory by DC ZVA, which clears a whole cache line (64 bytes on most CPUs) without reading
 * it. Normal memory only: on device memory it faults. Any context.
 */
#include "kernel/arch/aarch64/port.h"
#include "kernel/arch/aspace.h"

#define DCZID_PROHIBITED 16u
#define LINES 8 /* per iteration */

void arch_clear(void *at, size_t len)
{
    uint64_t id = a64_read_sysreg(dczid_el0);
    size_t line = 4ul << (id & 15);
    uintptr_t start = (uintptr_t)at, end = start + len;
    uintptr_t first = (start + line - 1) & ~(line - 1), last = end & ~(line - 1);

    if ((id & DCZID_PROHIBITED) || first >= last) {
        __builtin_memset(at, 0, len);
        return;
    }
    __builtin_memset(at, 0, first - start);
    while (last - first >= LINES * line) {
        __asm__ volatile(".rept %c2\n\tdc zva, %0\n\tadd %0, %0, %1\n\t.endr"
                         : "+r"(first)
                         : "r"(line), "i"(LINES)
                         : "memory");
    }
    for (; first < last; first += line) {
        __asm__ volatile("dc zva, %0" ::"r"(first) : "memory");
    }
    __builtin_memset((void *)last, 0, end - last);
}
