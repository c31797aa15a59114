/* SPDX-License-Identifier: BSD-2-Clause */
/* x86-64's part of <hw/inout.h>: an address below KYMO_IO_PORTS is the number of an I/O port,
 * because no memory is mapped there. Tested by test/board/x86_64/t_x86_64.c. */
#ifndef LIB_ARCH_X86_64_INOUT_H
#define LIB_ARCH_X86_64_INOUT_H

#include <stdint.h>

#include "lib/arch/x86_64/machine.h"

#define KYMO_INOUT(bits, suffix) \
    static inline uint##bits##_t in##bits(uintptr_t port) \
    { \
        uint##bits##_t value; \
\
        if (port >= KYMO_IO_PORTS) { \
            return *(volatile uint##bits##_t *)port; \
        } \
        __asm__ volatile("in" suffix " %1, %0" : "=a"(value) : "Nd"((uint16_t)port)); \
        return value; \
    } \
\
    static inline void out##bits(uintptr_t port, uint##bits##_t value) \
    { \
        if (port >= KYMO_IO_PORTS) { \
            *(volatile uint##bits##_t *)port = value; \
        } else { \
            __asm__ volatile("out" suffix " %0, %1" ::"a"(value), "Nd"((uint16_t)port)); \
        } \
    }
KYMO_INOUT(8, "b")
KYMO_INOUT(16, "w")
KYMO_INOUT(32, "l")
#undef KYMO_INOUT

#endif
