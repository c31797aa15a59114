/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads of memory that may not be there, for D: the MMU is asked first, page by page, so nothing
 * faults. What is not normal memory (device registers), or another process's, is refused. A
 * program's page is read through
 * the kernel's map of all RAM, because another CPU may unmap it at any moment. Any context,
 * interrupts masked. Proved by test/boot (suites d, faults).
 */
#include "kernel/arch/aarch64/port.h"

extern const char __kernel_start[], __text_end[], __kernel_end[];

#define PAR_FAULT 1ul
#define PAR_ATTR(par) ((par) >> 56)
#define ATTR_NORMAL 0xf0ul /* device memory has none of these bits */

/* The physical address that a load or store at va would reach; 0: it would fault, or a device. */
static uint64_t translate(uintptr_t va, bool user, bool write)
{
    if (user && write) {
        __asm__ volatile("at s1e0w, %0" ::"r"(va) : "memory");
    } else if (user) {
        __asm__ volatile("at s1e0r, %0" ::"r"(va) : "memory");
    } else {
        __asm__ volatile("at s1e1r, %0" ::"r"(va) : "memory");
    }
    a64_isb();
    uint64_t par = a64_read_sysreg(par_el1);
    if ((par & PAR_FAULT) || !(PAR_ATTR(par) & ATTR_NORMAL)) {
        return 0;
    }
    return (par & PTE_ADDRESS) | (va & (PAGE_SIZE - 1));
}

/* All RAM is in the kernel's map, that of other processes too. */
static bool is_private(uintptr_t va, uint64_t pa, size_t bytes)
{
    return (va < (uintptr_t)__kernel_start || va >= (uintptr_t)__kernel_end) &&
           kernel_ram_of_others(pa, bytes);
}

static size_t rest_of_page(uintptr_t va, size_t bytes)
{
    size_t rest = PAGE_SIZE - (va & (PAGE_SIZE - 1));

    return bytes < rest ? bytes : rest;
}

bool arch_peek(void *to, uintptr_t address, size_t bytes, const struct thread *user)
{
    char *out = to;

    while (bytes > 0) {
        size_t n = rest_of_page(address, bytes);
        uint64_t pa = translate(address, user != NULL, false);
        if (!pa || (!user && is_private(address, pa, n))) {
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

    (void)user;
    while (bytes > 0) {
        size_t n = rest_of_page(address, bytes);
        uint64_t pa = translate(address, true, true);
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

/* The instruction that ends at address `next` of the kernel's text: BL or BLR. */
static bool is_return(uintptr_t next)
{
    if ((next & 3) || next <= (uintptr_t)__kernel_start || next >= (uintptr_t)__text_end) {
        return false;
    }
    uint32_t insn = *(const uint32_t *)(next - 4);
    return (insn & 0xfc000000) == 0x94000000 || (insn & 0xfffffc1f) == 0xd63f0000;
}

/* Where the stack that `from` lies in, or on the guard below, begins and ends; false: in none. */
static bool stack_of(uintptr_t from, const uintptr_t **low, const uintptr_t **top)
{
    size_t offset = from - (uintptr_t)a64_stacks, stack = offset / sizeof(a64_stacks[0]);

    if (offset >= sizeof(a64_stacks) || (from & 7)) {
        return false;
    }
    *low = (const uintptr_t *)(const void *)(a64_stacks[stack] + KERNEL_STACK_GUARD);
    *top = (const uintptr_t *)(const void *)(a64_stacks + stack + 1);
    return true;
}

/* There is no frame pointer: what looks like a return address on the kernel's stack. Stale words
 * can add lines that are not callers. After an overflow the lowest are the latest. */
unsigned arch_kernel_stack(const void *from, uintptr_t *to, unsigned max)
{
    const uintptr_t *low, *top;
    unsigned n = 0;

    if (!stack_of((uintptr_t)from, &low, &top)) {
        return 0;
    }
    for (const uintptr_t *p = from < (const void *)low ? low : from; n < max && p < top; p++) {
        if (is_return(*p)) {
            to[n++] = *p;
        }
    }
    return n;
}
