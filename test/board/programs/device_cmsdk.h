/* SPDX-License-Identifier: BSD-2-Clause */
/* The devices of MPS2 boards that tests use: TIMER1, which the kernel leaves alone. Chosen by
 * TEST_DEVICE of board.mk: docs/guide/port.md. */
#ifndef TEST_BOOT_PROGRAMS_DEVICE_H
#define TEST_BOOT_PROGRAMS_DEVICE_H

#include <stdint.h>

#define DEVICE 0x40001000u
#define DEVICE_IRQ 9

/* Registers of a device: one with a known value, and one that keeps what is written. */
#define IO_DEVICE 0x40001000u
#define IO_ID_REGISTER 0xfe0u
#define IO_ID 0x22u
#define IO_PLAIN_REGISTER 0x08u /* the timer's next round */
#define IO_NARROW 0             /* its registers are accessed by words only */

#define NO_DEVICE 0x20000000u /* the kernel's memory */

/* Makes the device raise its interrupt, 100 us later. */
static inline void device_fire(volatile uint32_t *regs)
{
    regs[0] = 0;
    regs[1] = regs[2] = 2500; /* value and reload: 100 us at 25 MHz */
    regs[0] = 9;              /* enable, interrupt enable */
}

static inline void device_fire_now(volatile uint32_t *regs)
{
    device_fire(regs);
}

static inline void device_quiet(volatile uint32_t *regs)
{
    regs[0] = 0;
    regs[3] = 1;
}

#endif
