/* SPDX-License-Identifier: BSD-2-Clause */
/* I/O ports, for driver processes: a thread gets access by ThreadCtl(_NTO_TCTL_IO, 0). */
#ifndef LIB_ARCH_X86_64_PORTS_H
#define LIB_ARCH_X86_64_PORTS_H

#include <stdint.h>

static inline uint8_t kymo_in8(uint16_t port)
{
    uint8_t value;

    __asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
    return value;
}

static inline void kymo_out8(uint16_t port, uint8_t value)
{
    __asm__ volatile("outb %0, %1" ::"a"(value), "Nd"(port));
}

#endif
