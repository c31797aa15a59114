/* SPDX-License-Identifier: BSD-2-Clause */
/* A PC's 16550 UART: COM1, accessed by I/O ports. */
#include "apps/console/uart.h"
#include "lib/arch/x86_64/ports.h"

#define COM1 0x3f8
enum { DATA = 0, IER = 1, LSR = 5 };

#define IER_RECEIVED 0x01
#define LSR_RECEIVED 0x01

static void uart_16550_start(volatile uint32_t *base)
{
    (void)base;
    kymo_out8(COM1 + IER, IER_RECEIVED);
}

static int uart_16550_get_byte(volatile uint32_t *base)
{
    (void)base;
    return kymo_in8(COM1 + LSR) & LSR_RECEIVED ? kymo_in8(COM1 + DATA) : -1;
}

/* The interrupt ends when all characters have been read. */
static void uart_16550_acknowledge(volatile uint32_t *base)
{
    (void)base;
}

const struct uart console_uart = {
    .name = "16550",
    .registers = COM1,
    .length = 0,
    .interrupt = 4,
    .start = uart_16550_start,
    .get = uart_16550_get_byte,
    .acknowledge = uart_16550_acknowledge,
};
