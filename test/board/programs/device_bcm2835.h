/* SPDX-License-Identifier: BSD-2-Clause */
/* The devices of a Raspberry Pi that tests use: the system timer's comparison 1, and the PL011.
 * Chosen by TEST_DEVICE of board.mk: docs/guide/port.md. */
#ifndef TEST_BOOT_PROGRAMS_DEVICE_H
#define TEST_BOOT_PROGRAMS_DEVICE_H

#include <stdint.h>

#define DEVICE 0x3f003000u
#define DEVICE_IRQ 1

/* Registers of a device: one with a known value, and one that keeps what is written. */
#define IO_DEVICE 0x3f201000u
#define IO_ID_REGISTER 0xfe0u
#define IO_ID 0x11u
#define IO_PLAIN_REGISTER 0x20u /* the counter for IrDA, which is off */
#define IO_NARROW 1             /* its registers may be accessed by bytes */

#define NO_DEVICE 0x3f007000u /* the DMA controller, which no program may have */

/* Makes the device raise its interrupt, 100 us later. */
static inline void device_fire(volatile uint32_t *regs)
{
    regs[4] = regs[1] + 100; /* us */
}

static inline void device_fire_now(volatile uint32_t *regs)
{
    device_fire(regs);
}

static inline void device_quiet(volatile uint32_t *regs)
{
    regs[0] = 1u << 1;
}

#endif
