/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Accesses of the given size to a device register, at an address from mmap_device_io() or
 * mmap_device_memory(); the compiler never merges, splits or drops one. Tested by
 * test/board/programs/t_port.c.
 */
#ifndef LIB_HW_INOUT_H
#define LIB_HW_INOUT_H

#include <stdint.h>

#ifdef __x86_64__
#include "lib/arch/x86_64/inout.h"
#else

static inline uint8_t in8(uintptr_t port)
{
    return *(volatile uint8_t *)port;
}

static inline uint16_t in16(uintptr_t port)
{
    return *(volatile uint16_t *)port;
}

static inline uint32_t in32(uintptr_t port)
{
    return *(volatile uint32_t *)port;
}

static inline void out8(uintptr_t port, uint8_t value)
{
    *(volatile uint8_t *)port = value;
}

static inline void out16(uintptr_t port, uint16_t value)
{
    *(volatile uint16_t *)port = value;
}

static inline void out32(uintptr_t port, uint32_t value)
{
    *(volatile uint32_t *)port = value;
}

#endif
#endif
