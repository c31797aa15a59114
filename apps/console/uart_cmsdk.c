/* SPDX-License-Identifier: BSD-2-Clause */
/* Arm CMSDK APB UART (MPS2 boards): no FIFO, one buffer register each way. */
#include "apps/console/uart.h"

enum { DATA = 0, STATE = 1, CTRL = 2, INT = 3, BAUDDIV = 4 }; /* word offsets */

#define STATE_RX_FULL 0x2
#define STATE_RX_OVERRUN 0x8
#define CTRL_TX_ENABLE 0x1
#define CTRL_RX_ENABLE 0x2
#define CTRL_RX_INTERRUPT 0x8
#define INT_RX 0x2
#define DIVIDER 217 /* 25 MHz / 115200 */

static void uart_cmsdk_start(volatile uint32_t *base)
{
    base[BAUDDIV] = DIVIDER;
    base[CTRL] = CTRL_TX_ENABLE | CTRL_RX_ENABLE | CTRL_RX_INTERRUPT;
}

static int uart_cmsdk_get_byte(volatile uint32_t *base)
{
    return base[STATE] & STATE_RX_FULL ? (int)(base[DATA] & 0xff) : -1;
}

static void uart_cmsdk_acknowledge(volatile uint32_t *base)
{
    base[INT] = INT_RX;
    base[STATE] = STATE_RX_OVERRUN;
}

const struct uart console_uart = {
    .name = "cmsdk",
    .registers = 0x40004000,
    .length = 0x1000,
    .interrupt = 0,
    .start = uart_cmsdk_start,
    .get = uart_cmsdk_get_byte,
    .acknowledge = uart_cmsdk_acknowledge,
};
