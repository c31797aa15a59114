/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fault-safe reads for D: each page is looked up in the tables first, so nothing faults. Refuses
 * memory that is not normal memory (device registers) or belongs to another process. A program's
 * page is read through the kernel's map of all RAM. Any context, interrupts masked.
 *
 * CR3 holds the space of the running thread. A probe may attribute itself to another thread: then
 * the mappings of that process are searched instead. Kernel lock held.
 *
 * Also the frame that a stack trace starts from, and what a return address is.
 */
#include "kernel/arch/assert.h"
#include "kernel/arch/stack.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/x86_64/port.h"

extern const char __kernel_start[], __kernel_end[], __text_end[];

/* Returns the physical address that a load or store at va would access; 0: it would fault, or hit a
 * device. */
static uint64_t x86_peek_translate(uintptr_t va, bool user, bool write)
{
    const uint64_t need = PTE_VALID | (user ? PTE_USER : 0) | (write ? PTE_WRITE : 0);
    uint64_t table = x86_cr3() & PTE_ADDRESS;

    if ((uintptr_t)((intptr_t)(va << 16) >> 16) != va) {
        return 0;
    }
    for (unsigned shift = 39; shift >= 12; shift -= 9) {
        uint64_t entry = ((const uint64_t *)arch_phys_to_virt(table))[va >> shift & 511];
        if ((entry & need) != need) {
            return 0;
        }
        if (shift == 12 || (entry & PTE_BLOCK)) {
            uint64_t within = (1ul << shift) - 1;
            return entry & PTE_DEVICE ? 0 : (entry & PTE_ADDRESS & ~within) | (va & within);
        }
        table = entry & PTE_ADDRESS;
    }
    return 0;
}

/* The kernel's map contains all RAM, including that of other processes. */
static bool x86_is_private(uintptr_t va, uint64_t pa, size_t bytes)
{
    return (va < (uintptr_t)__kernel_start || va >= (uintptr_t)__kernel_end) &&
           kernel_ram_of_others(pa, bytes);
}

static size_t x86_rest_of_page(uintptr_t va, size_t bytes)
{
    size_t rest = PAGE_SIZE - (va & (PAGE_SIZE - 1));

    return bytes < rest ? bytes : rest;
}

static bool x86_is_loaded(const struct thread *t)
{
    return x86_context(t)->cr3 == x86_cr3();
}

bool arch_peek(void *to, uintptr_t address, size_t bytes, const struct thread *user)
{
    char *out = to;

    if (user && !x86_is_loaded(user)) {
        const void *from = kernel_user_ptr(user, address, bytes, KYMO_PROT_READ);
        if (from) {
            __builtin_memcpy(to, from, bytes);
        }
        return from != NULL;
    }
    while (bytes > 0) {
        size_t n = x86_rest_of_page(address, bytes);
        uint64_t pa = x86_peek_translate(address, user != NULL, false);
        if (!pa || (!user && x86_is_private(address, pa, n))) {
            return false;
        }
        __builtin_memcpy(out, user ? arch_phys_to_virt(pa) : (const void *)address, n);
        out += n;
        address += n;
        bytes -= n;
    }
    return true;
}

bool arch_poke(uintptr_t address, const void *from, size_t bytes, const struct thread *user)
{
    const char *in = from;

    if (!x86_is_loaded(user)) {
        void *to = kernel_user_ptr(user, address, bytes, KYMO_PROT_WRITE);
        if (to) {
            __builtin_memcpy(to, from, bytes);
        }
        return to != NULL;
    }
    while (bytes > 0) {
        size_t n = x86_rest_of_page(address, bytes);
        uint64_t pa = x86_peek_translate(address, true, true);
        if (!pa) {
            return false;
        }
        __builtin_memcpy(arch_phys_to_virt(pa), in, n);
        in += n;
        address += n;
        bytes -= n;
    }
    return true;
}

/* ---- stacks ------------------------------------------------------------------------ */

/* There is no link register: the caller of this frame is on the stack. */
bool arch_user_frame(const struct thread *t, struct unwind_frame *f)
{
    const struct arch_context *ctx = x86_context(t);

    *f = (struct unwind_frame){.pc = ctx->rip, .sp = ctx->r[RSP], .fp = ctx->r[RBP], .live = true};
    return true;
}

bool arch_exception_frame(struct unwind_frame *f)
{
    (void)f;
    return false;
}

bool arch_probe_frame(struct unwind_frame *f, uintptr_t site, unsigned behind)
{
    (void)f;
    (void)site;
    (void)behind;
    return false;
}

/* Accepts a word if the instruction before it is a CALL: E8 with four bytes, or FF /2 of the usual
 * lengths. */
bool arch_return_address(uintptr_t *word, const struct thread *user)
{
    bool inside = user || (*word > (uintptr_t)__kernel_start && *word <= (uintptr_t)__text_end);
    uint8_t before[7];

    if (!inside || *word < sizeof(before) ||
        !arch_peek(before, *word - sizeof(before), sizeof(before), user)) {
        return false;
    }
    if (before[2] == 0xe8) {
        return true;
    }
    for (unsigned at = 0; at < 6; at++) {
        if (before[at] == 0xff && (before[at + 1] & 0x38) == 0x10) {
            return true;
        }
    }
    return false;
}

bool arch_backtrace_lost(const struct thread *t, unsigned *at, uintptr_t *to, unsigned *n,
                         unsigned max)
{
    (void)t;
    (void)at;
    (void)to;
    (void)n;
    (void)max;
    return false;
}
