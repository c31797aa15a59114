/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by boards and their kernel-side drivers: linker symbols, register access, and the drivers'
 * interfaces. The kernel doesn't use this header: a board implements the functions that
 * kernel/arch/ marks "[board]".
 *
 * These drivers have no state beyond constants of the board; all may be called from any context.
 */
#ifndef BOARDS_BOARD_H
#define BOARDS_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Defined by ldscripts/kernel.ld. */
extern char __kernel_start[], __kernel_end[];

static inline uint32_t mmio_read(uintptr_t address)
{
    return *(volatile uint32_t *)address;
}

static inline void mmio_write(uintptr_t address, uint32_t value)
{
    *(volatile uint32_t *)address = value;
}

/* Returns whether [a, a + alen) and [b, b + blen) overlap. Lengths that wrap count as overlap. */
static inline bool ranges_overlap(uintptr_t a, size_t alen, uintptr_t b, size_t blen)
{
    return a + alen < a || b + blen < b || (a < b + blen && b < a + alen);
}

/* Returns whether [a, a + alen) is entirely inside [b, b + blen). False if it wraps or is empty. */
static inline bool range_inside(uintptr_t a, size_t alen, uintptr_t b, size_t blen)
{
    return alen != 0 && alen <= blen && a >= b && a - b <= blen - alen;
}

#endif
