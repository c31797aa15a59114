/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ARMv7-M: fault-safe reads for D: the kernel's own memory by its bounds, a program's by its
 * process's map, nothing else (no device, no vector table, no memory of other processes), so
 * nothing faults. Any context, interrupts masked. Tested by test/board (suites d, faults).
 */
#include "kernel/arch/armv7m/private.h"
#include "kernel/arch/board.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/stack.h"

#define VECTORS_BYTES 0x400 /* refused, like address 0, because accesses to it are bugs */

extern const char __kernel_start[], __rodata_end[], __data_at[], __kernel_end[];

static bool peek_within(uintptr_t address, size_t bytes, uintptr_t from, uintptr_t to)
{
    return address >= from && address < to && bytes <= to - address;
}

static bool is_kernel_memory(uintptr_t address, size_t bytes)
{
    paddr_t ram;
    size_t ram_bytes;

    if (address < (uintptr_t)kernel_stack_low && address + bytes > (uintptr_t)kernel_stack_guard) {
        return false;
    }
    arch_ram(&ram, &ram_bytes);
    return peek_within(address, bytes, (uintptr_t)__kernel_start + VECTORS_BYTES,
                       (uintptr_t)__rodata_end) ||
           peek_within(address, bytes, (uintptr_t)__data_at, (uintptr_t)__kernel_end) ||
           (peek_within(address, bytes, ram, ram + ram_bytes) &&
            !kernel_ram_of_others(address, bytes));
}

bool arch_peek(void *to, uintptr_t address, size_t bytes, const struct thread *user)
{
    const void *from = (const void *)address;

    if (user) {
        from = kernel_user_ptr(user, address, bytes, KYMO_PROT_READ);
    } else if (!is_kernel_memory(address, bytes)) {
        return false;
    }
    if (!from) {
        return false;
    }
    __builtin_memcpy(to, from, bytes);
    return true;
}

bool arch_poke(uintptr_t address, const void *from, size_t bytes, const struct thread *user)
{
    void *to = kernel_user_ptr(user, address, bytes, KYMO_PROT_WRITE);

    if (to) {
        __builtin_memcpy(to, from, bytes);
    }
    return to != NULL;
}
