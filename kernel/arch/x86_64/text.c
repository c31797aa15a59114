/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes written text visible: trace sites and loaded programs; clears and cleans memory. Lock held.
 *
 * Other CPUs may execute a site while it is replaced, and an instruction of several bytes must
 * never be seen half new. So its first byte becomes a breakpoint, then the others are written, then
 * the first; between two steps each CPU is called, which makes it forget what it has fetched. A CPU
 * that executes the breakpoint continues behind the site, as if that were off. Proved by test/boot,
 * suite sites-multi.
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
#define BREAKPOINT 0xcc

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

static volatile uintptr_t patching; /* [k] the site with the breakpoint; read by any CPU */

/* An emulator may execute a breakpoint that is not there any more, translated before: then the
 * instruction is executed again. */
bool x86_breakpoint(uint64_t *rip)
{
    const uintptr_t at = *rip - 1;

    if (!x86_is_kernel_text(at, *rip)) {
        return false;
    }
    if (at == patching) {
        *rip = at + ARCH_SITE_BYTES;
    } else if (*(const volatile uint8_t *)at != BREAKPOINT) {
        *rip = at;
    } else {
        return false;
    }
    return true;
}

static void x86_site_write(uintptr_t site, const uint8_t *code)
{
    static const uint8_t breakpoint = BREAKPOINT;

    if (!x86_cpus_others()) {
        arch_text_write(site, code, ARCH_SITE_BYTES);
        return;
    }
    patching = site;
    arch_text_write(site, &breakpoint, 1);
    x86_serialise_all();
    arch_text_write(site + 1, code + 1, ARCH_SITE_BYTES - 1);
    x86_serialise_all();
    arch_text_write(site, code, 1);
    x86_serialise_all();
    patching = 0;
}

void arch_site_patch(uintptr_t site, uintptr_t target, bool on)
{
    static const uint8_t nop[ARCH_SITE_BYTES] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
    int32_t distance = (int32_t)(target - (site + ARCH_SITE_BYTES));
    uint8_t jump[ARCH_SITE_BYTES] = {JUMP};

    __builtin_memcpy(jump + 1, &distance, sizeof(distance));
    x86_site_write(site, on ? jump : nop);
}
