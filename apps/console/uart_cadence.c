/* SPDX-License-Identifier: BSD-2-Clause */
/* Cadence UART of Xilinx's Zynq chips (UG1087). board.mk has its location: CADENCE_BASE,
 * CADENCE_IRQ. */
#include "apps/console/uart.h"

enum { CONTROL = 0, IER = 2, ISR = 5, TRIGGER = 8, STATUS = 11, FIFO = 12 };

#define CONTROL_ENABLED 0x14u /* both directions */
#define RX_EMPTY 0x02u
#define INT_RX 0x01u /* TRIGGER characters were received */

static void uart_cadence_start(volatile uint32_t *base)
{
    base[CONTROL] = CONTROL_ENABLED;
    base[TRIGGER] = 1;
    base[IER] = INT_RX;
}

static int uart_cadence_get_byte(volatile uint32_t *base)
{
    return base[STATUS] & RX_EMPTY ? -1 : (int)(base[FIFO] & 0xff);
}

/* Characters still in the FIFO set the bit again: the next interrupt may find none. */
static void uart_cadence_acknowledge(volatile uint32_t *base)
{
    base[ISR] = INT_RX;
}

const struct uart console_uart = {
    .name = "cadence",
    .registers = CADENCE_BASE,
    .length = 0x1000,
    .interrupt = CADENCE_IRQ,
    .start = uart_cadence_start,
    .get = uart_cadence_get_byte,
    .acknowledge = uart_cadence_acknowledge,
};
