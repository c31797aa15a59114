/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fault-safe reads for D, on ports with an MMU: each page is translated first, so nothing faults.
 * Refuses memory that is not normal memory (device registers) or belongs to another process. All is
 * read through the kernel's map of RAM: another CPU may unmap a program's page at any moment, and
 * the CPU may forbid the kernel to use a program's addresses. Any context, interrupts masked.
 *
 * The MMU holds the space of the running thread. A probe may attribute itself to another thread,
 * one about to run or one that had the CPU when a sample was taken, which may be of another
 * process: then the mappings of that process are searched instead. Kernel lock held. Tested by
 * test/board (suites d, faults) and test/dtrace/stacks.py.
 */
#include "abi/sys/kymo.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/mmu/mmu.h"
#include "kernel/arch/stack.h"

extern const char __kernel_start[], __kernel_end[];

/* The kernel's map contains all RAM, including that of other processes. */
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

/* Returns whether this thread's space is the CPU's present one. */
static bool is_loaded(const struct thread *t)
{
    return pages_loaded((const struct arch_context *)t); /* kernel/arch/entry.h */
}

bool arch_peek(void *to, uintptr_t address, size_t bytes, const struct thread *user)
{
    char *out = to;

    if (user && !is_loaded(user)) {
        const void *from = kernel_user_ptr(user, address, bytes, KYMO_PROT_READ);
        if (from) {
            __builtin_memcpy(to, from, bytes);
        }
        return from != NULL;
    }
    while (bytes > 0) {
        size_t n = rest_of_page(address, bytes);
        uint64_t pa = pages_translate(address, user != NULL, false);
        if (!pa || (!user && is_private(address, pa, n))) {
            return false;
        }
        __builtin_memcpy(out, arch_phys_to_virt(pa), n);
        out += n;
        address += n;
        bytes -= n;
    }
    return true;
}

bool arch_poke(uintptr_t address, const void *from, size_t bytes, const struct thread *user)
{
    const char *in = from;

    if (!is_loaded(user)) {
        void *to = kernel_user_ptr(user, address, bytes, KYMO_PROT_WRITE);
        if (to) {
            __builtin_memcpy(to, from, bytes);
        }
        return to != NULL;
    }
    while (bytes > 0) {
        size_t n = rest_of_page(address, bytes);
        uint64_t pa = pages_translate(address, true, true);
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
