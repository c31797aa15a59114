/* SPDX-License-Identifier: BSD-2-Clause */
/* The device of a Zynq UltraScale+ that tests use: UART 1, a Cadence UART, when it is no link.
 * Chosen by TEST_DEVICE of board.mk: docs/guide/port.md. */
#ifndef TEST_BOOT_PROGRAMS_DEVICE_H
#define TEST_BOOT_PROGRAMS_DEVICE_H

#include <stdint.h>

#define DEVICE 0xff010000u
#define DEVICE_IRQ 54

/* Registers of a device: one with a known value, and one that keeps what is written. */
#define IO_DEVICE 0xff010000u
#define IO_ID_REGISTER 0x34u /* the divider, as a reset leaves it */
#define IO_ID 0x0fu
#define IO_PLAIN_REGISTER 0x20u /* the receiver's trigger */
#define IO_NARROW 0             /* its registers are words */

#define NO_DEVICE 0xfd500000u /* a DMA controller, which no program may have */

#define DEVICE_TX_EMPTY 0x08u

/* Makes the device raise its interrupt, at once: its transmitter is empty. */
static inline void device_fire(volatile uint32_t *regs)
{
    regs[0] = 0x14; /* both directions on */
    regs[2] = DEVICE_TX_EMPTY;
}

static inline void device_fire_now(volatile uint32_t *regs)
{
    device_fire(regs);
}

static inline void device_quiet(volatile uint32_t *regs)
{
    regs[3] = DEVICE_TX_EMPTY;
    regs[5] = DEVICE_TX_EMPTY;
}

#endif
