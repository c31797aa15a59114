/* SPDX-License-Identifier: BSD-2-Clause */
/* Arm PL011 UART. board.mk has its location: PL011_BASE, PL011_IRQ. */
#include "apps/console/uart.h"

enum { DR = 0, FR = 0x18 / 4, CR = 0x30 / 4, IMSC = 0x38 / 4, ICR = 0x44 / 4 };

#define FR_RX_EMPTY 0x10
#define CR_ENABLE_TX_RX 0x301
#define INT_RX 0x10
#define INT_RX_TIMEOUT 0x40

/* The FIFO stays on or off as it is: switching it drops received characters. */
static void uart_pl011_start(volatile uint32_t *base)
{
    base[CR] = CR_ENABLE_TX_RX;
    base[IMSC] = INT_RX | INT_RX_TIMEOUT;
}

static int uart_pl011_get_byte(volatile uint32_t *base)
{
    return base[FR] & FR_RX_EMPTY ? -1 : (int)(base[DR] & 0xff);
}

static void uart_pl011_acknowledge(volatile uint32_t *base)
{
    base[ICR] = INT_RX | INT_RX_TIMEOUT;
}

const struct uart console_uart = {
    .name = "pl011",
    .registers = PL011_BASE,
    .length = 0x1000,
    .interrupt = PL011_IRQ,
    .start = uart_pl011_start,
    .get = uart_pl011_get_byte,
    .acknowledge = uart_pl011_acknowledge,
};
