/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes written text visible: trace sites and loaded programs; clears and cleans memory. One CPU: a
 * site is rewritten while nothing executes it. Lock held.
 */
#include "kernel/arch/assert.h"
#include "kernel/arch/panic.h"
#include "kernel/arch/probe.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/x86_64/port.h"

extern char __kernel_start[], __text_end[]; /* ldscripts/kernel.ld */

#define LINE 64
#define JUMP 0xe9

static bool x86_is_kernel_text(uintptr_t from, uintptr_t to)
{
    return from >= (uintptr_t)__kernel_start && from <= to && to <= (uintptr_t)__text_end;
}

/* Caches are coherent; only what this CPU has fetched already may be old. CPUID serialises. */
void arch_text_sync(const void *start, size_t len)
{
    uint32_t nothing[4];

    (void)start;
    (void)len;
    x86_cpuid(0, nothing);
}

void arch_cache_clean(const void *start, size_t len)
{
    uintptr_t from = (uintptr_t)start, to = from + len;

    for (uintptr_t p = from & ~(uintptr_t)(LINE - 1); p < to; p += LINE) {
        __asm__ volatile("clflush %0" : "+m"(*(volatile char *)p));
    }
    __asm__ volatile("mfence" ::: "memory");
}

void arch_clear(void *at, size_t len)
{
    const size_t turns = ((uintptr_t)at & 7) == 0 ? len - len % ARCH_TURN : 0;

    arch_fill_turns(at, 0, turns);
    __builtin_memset((char *)at + turns, 0, len - turns);
}

void arch_text_write(uintptr_t at, const void *from, size_t bytes)
{
    kernel_assert(kernel_holds_lock());
    if (!x86_is_kernel_text(at, at + bytes)) {
        kernel_panic("%p is no text", (void *)at);
    }
    for (size_t i = 0; i < bytes; i++) {
        ((volatile uint8_t *)(at + (uintptr_t)KERNEL_TEXT_ALIAS))[i] = ((const uint8_t *)from)[i];
    }
    arch_text_sync((const void *)at, bytes);
}

_Static_assert(CONFIG_CPUS == 1, "with more, a breakpoint first, and a call to the others");

void arch_site_patch(uintptr_t site, uintptr_t target, bool on)
{
    static const uint8_t nop[ARCH_SITE_BYTES] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
    int32_t distance = (int32_t)(target - (site + ARCH_SITE_BYTES));
    uint8_t jump[ARCH_SITE_BYTES] = {JUMP};

    __builtin_memcpy(jump + 1, &distance, sizeof(distance));
    arch_text_write(site, on ? jump : nop, ARCH_SITE_BYTES);
}
