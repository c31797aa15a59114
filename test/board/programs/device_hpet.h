/* SPDX-License-Identifier: BSD-2-Clause */
/* The device of a PC that tests use: the HPET's first timer, which the kernel leaves alone. Chosen
 * by TEST_DEVICE of board.mk: docs/guide/port.md. */
#ifndef TEST_BOOT_PROGRAMS_DEVICE_H
#define TEST_BOOT_PROGRAMS_DEVICE_H

#include <stdint.h>

#define DEVICE 0xfed00000u
#define DEVICE_IRQ 8

/* Registers of a device: one with a known value, and one that keeps what is written. */
#define IO_DEVICE 0xfed00000u
#define IO_ID_REGISTER 0x4u /* the period, in QEMU 10 ns */
#define IO_ID 0x80u         /* its low byte */
#define IO_PLAIN_REGISTER 0x108u
#define IO_NARROW 0 /* its registers are accessed by words only */

#define NO_DEVICE 0x00a00000u /* RAM */

enum { HPET_STATUS = 0x20 / 4, HPET_COUNTER = 0xf0 / 4 };
enum { HPET_TIMER = 0x100 / 4, HPET_AT = 0x108 / 4 };

/* Makes the device raise its interrupt: in 100 us, by level. */
static inline void device_fire(volatile uint32_t *regs)
{
    regs[HPET_AT] = regs[HPET_COUNTER] + 10000; /* of 10 ns, in QEMU */
    regs[HPET_AT + 1] = regs[HPET_COUNTER + 1];
    regs[HPET_TIMER] = DEVICE_IRQ << 9 | 1u << 8 | 1u << 2 | 1u << 1; /* 32 bits, on, level */
}

static inline void device_fire_now(volatile uint32_t *regs)
{
    device_fire(regs);
}

/* The status first: that lowers the line that the timer has. */
static inline void device_quiet(volatile uint32_t *regs)
{
    regs[HPET_STATUS] = 1;
    regs[HPET_TIMER] = 0;
}

#endif
