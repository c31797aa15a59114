/* SPDX-License-Identifier: BSD-2-Clause */
/* The devices of QEMU's virt machine that tests use: the clock (PL031) and the GPIO (PL061). Chosen
 * by TEST_DEVICE of board.mk: docs/guide/port.md. */
#ifndef TEST_BOOT_PROGRAMS_DEVICE_H
#define TEST_BOOT_PROGRAMS_DEVICE_H

#include <stdint.h>

#define DEVICE 0x09010000u
#define DEVICE_IRQ 34

/* Registers of a device: one with a known value, and one that keeps what is written. */
#define IO_DEVICE 0x09030000u
#define IO_ID_REGISTER 0xfe0u
#define IO_ID 0x61u
#define IO_PLAIN_REGISTER 0x400u /* directions */
#define IO_NARROW 1              /* its registers may be accessed by bytes */

#define NO_DEVICE 0x40000000u /* RAM */

/* Makes the device raise its interrupt: within a second, at once. */
static inline void device_fire(volatile uint32_t *regs)
{
    regs[1] = regs[0] + 1; /* match in the next second */
    regs[4] = 1;
}

static inline void device_fire_now(volatile uint32_t *regs)
{
    regs[1] = regs[0]; /* this second */
    regs[4] = 1;
}

static inline void device_quiet(volatile uint32_t *regs)
{
    regs[4] = 0;
    regs[7] = 1;
}

#endif
