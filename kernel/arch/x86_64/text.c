/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes written text visible: trace sites and loaded programs; clears and cleans memory. Lock held.
 *
 * Other CPUs may execute a site while it is replaced, and an instruction of several bytes must
 * never be seen half written. So its first byte becomes a breakpoint; the handler does the new
 * instruction's work. When the batch ends (arch_text_sync()), the other bytes are written, then the
 * first; before, between and after that each CPU is called, which makes it discard prefetched
 * instructions. So a batch costs three calls, however many sites it has. Tested by test/board,
 * suites storms-multi and sites-multi.
 */
#include "kernel/arch/assert.h"
#include "kernel/arch/panic.h"
#include "kernel/arch/probe.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/x86_64/port.h"

extern char __kernel_start[], __text_end[]; /* ldscripts/kernel.ld */

#define LINE 64

static bool x86_is_kernel_text(uintptr_t from, uintptr_t to)
{
    return from >= (uintptr_t)__kernel_start && from <= to && to <= (uintptr_t)__text_end;
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
    uint32_t nothing[4];

    kernel_assert(kernel_holds_lock());
    if (!x86_is_kernel_text(at, at + bytes)) {
        kernel_panic("%p is not text", (void *)at);
    }
    for (size_t i = 0; i < bytes; i++) {
        ((volatile uint8_t *)(at + (uintptr_t)KERNEL_TEXT_ALIAS))[i] = ((const uint8_t *)from)[i];
    }
    x86_cpuid(0, nothing);
}

#define BATCH_MOST 256

/* Sites with a breakpoint. [k], but read by any CPU's handler: an entry is complete before n
 * includes it, and at the end of the batch none of its sites has a breakpoint. */
static struct batch {
    unsigned n;
    struct {
        uintptr_t site, next; /* where execution continues */
        uint8_t code[ARCH_SITE_BYTES];
    } of[BATCH_MOST];
} batch;

/* A breakpoint that no longer exists was fetched before; an emulator may even execute it later,
 * from an earlier translation. Then the instruction is executed again. */
bool x86_breakpoint(uintptr_t *frame)
{
    uintptr_t *const rip = &frame[X86_FRAME_RIP];
    const uintptr_t at = *rip - 1;

    if (!x86_is_kernel_text(at, *rip)) {
        return false;
    }
    for (unsigned i = __atomic_load_n(&batch.n, __ATOMIC_ACQUIRE); i-- > 0;) {
        if (batch.of[i].site == at) {
            *rip = batch.of[i].next;
            return true;
        }
    }
    if (x86_probe(at, frame, rip)) {
        return true;
    }
    *rip = at;
    return *(const volatile uint8_t *)at != X86_BREAKPOINT;
}

static void x86_batch_end(void)
{
    kernel_assert(kernel_holds_lock());
    x86_serialise_all();
    for (unsigned i = 0; i < batch.n; i++) {
        arch_text_write(batch.of[i].site + 1, batch.of[i].code + 1, ARCH_SITE_BYTES - 1);
    }
    x86_serialise_all();
    for (unsigned i = 0; i < batch.n; i++) {
        arch_text_write(batch.of[i].site, batch.of[i].code, 1);
    }
    x86_serialise_all();
    __atomic_store_n(&batch.n, 0, __ATOMIC_RELEASE);
}

/* A site that occurs twice keeps one entry: its bytes are written once, so that they are never a
 * mixture of two instructions. */
static void x86_batch_add(uintptr_t site, uintptr_t next, const uint8_t *code)
{
    static const uint8_t breakpoint = X86_BREAKPOINT;
    unsigned n = batch.n;

    if (*(const volatile uint8_t *)site == X86_BREAKPOINT) {
        for (unsigned i = 0; i < n; i++) {
            if (batch.of[i].site == site) {
                __builtin_memcpy(batch.of[i].code, code, ARCH_SITE_BYTES);
                __atomic_store_n(&batch.of[i].next, next, __ATOMIC_RELEASE);
                return;
            }
        }
    }
    if (n == BATCH_MOST) {
        x86_batch_end();
        n = 0;
    }
    batch.of[n].site = site;
    batch.of[n].next = next;
    __builtin_memcpy(batch.of[n].code, code, ARCH_SITE_BYTES);
    __atomic_store_n(&batch.n, n + 1, __ATOMIC_RELEASE);
    arch_text_write(site, &breakpoint, 1);
}

static const uint8_t x86_nop[ARCH_SITE_BYTES] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

static void x86_jump(uint8_t jump[ARCH_SITE_BYTES], uintptr_t site, uintptr_t target)
{
    int32_t distance = (int32_t)(target - (site + ARCH_SITE_BYTES));

    jump[0] = X86_JUMP;
    __builtin_memcpy(jump + 1, &distance, sizeof(distance));
}

void arch_site_patch(uintptr_t site, uintptr_t target, bool on)
{
    uint8_t jump[ARCH_SITE_BYTES];

    x86_jump(jump, site, target);
    if (x86_cpus_others()) {
        x86_batch_add(site, on ? target : site + ARCH_SITE_BYTES, on ? jump : x86_nop);
    } else {
        arch_text_write(site, on ? jump : x86_nop, ARCH_SITE_BYTES);
    }
}

/* Caches are coherent; only this CPU's prefetched instructions may be old. CPUID serializes. */
void arch_text_sync(const void *start, size_t len)
{
    uint32_t nothing[4];

    if (batch.n && x86_is_kernel_text((uintptr_t)start, (uintptr_t)start + len)) {
        x86_batch_end();
    }
    x86_cpuid(0, nothing);
}

enum arch_user_site arch_user_site(const void *at, uintptr_t site, uintptr_t target)
{
    const intptr_t distance = (intptr_t)(target - (site + ARCH_SITE_BYTES));
    uint8_t jump[ARCH_SITE_BYTES];

    x86_jump(jump, site, target);
    return distance != (int32_t)distance                     ? ARCH_USER_SITE_OTHER
           : !__builtin_memcmp(at, x86_nop, ARCH_SITE_BYTES) ? ARCH_USER_SITE_OFF
           : !__builtin_memcmp(at, jump, ARCH_SITE_BYTES)    ? ARCH_USER_SITE_ON
                                                             : ARCH_USER_SITE_OTHER;
}

void arch_user_site_write(void *at, uintptr_t site, uintptr_t target, bool on)
{
    kernel_assert(kernel_holds_lock());
    uint8_t jump[ARCH_SITE_BYTES];

    x86_jump(jump, site, target);
    __builtin_memcpy(at, on ? jump : x86_nop, ARCH_SITE_BYTES);
}
