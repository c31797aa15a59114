/* SPDX-License-Identifier: BSD-2-Clause */
/* An STM32 USART: USART2, one receive register. */
#include "apps/console/uart.h"

enum { SR = 0, DR = 1, BRR = 2, CR1 = 3 }; /* word offsets */

#define SR_ORE 0x08
#define SR_RXNE 0x20
#define CR1_RXNEIE 0x20

/* The kernel has set speed and pins. */
static void uart_stm32_start(volatile uint32_t *base)
{
    base[CR1] |= CR1_RXNEIE;
}

static int uart_stm32_get_byte(volatile uint32_t *base)
{
    return base[SR] & SR_RXNE ? (int)(base[DR] & 0xff) : -1;
}

/* uart_stm32_get_byte() ends the interrupt of a byte by reading SR and DR. This ends an overrun
 * that came between the two. */
static void uart_stm32_acknowledge(volatile uint32_t *base)
{
    if ((base[SR] & (SR_RXNE | SR_ORE)) == SR_ORE) {
        (void)base[DR];
    }
}

const struct uart console_uart = {
    .name = "stm32",
    .registers = 0x40004400,
    .length = 0x400,
    .interrupt = 38,
    .start = uart_stm32_start,
    .get = uart_stm32_get_byte,
    .acknowledge = uart_stm32_acknowledge,
};
