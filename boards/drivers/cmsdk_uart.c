/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CMSDK APB UART as the kernel's polled console. A console process may own the same UART's
 * interrupts: the kernel accesses only DATA and STATE after set-up. Tested by every boot on mps2.
 */
#include "boards/drivers/cmsdk.h"
#include "boards/board.h"

#define UART_DATA 0x00
#define UART_STATE 0x04
#define UART_CTRL 0x08
#define UART_BAUDDIV 0x10

#define STATE_TX_FULL 1u
#define CTRL_TX_ENABLE 1u
#define CTRL_RX_ENABLE 2u

/* The divisor must be set first: QEMU ignores an enabled UART whose divisor is below 16. */
void cmsdk_uart_init(uintptr_t base, uint32_t divisor)
{
    mmio_write(base + UART_CTRL, 0);
    mmio_write(base + UART_BAUDDIV, divisor);
    mmio_write(base + UART_CTRL, CTRL_TX_ENABLE | CTRL_RX_ENABLE);
}

bool cmsdk_uart_ready(uintptr_t base)
{
    return (mmio_read(base + UART_STATE) & STATE_TX_FULL) == 0;
}

/* Bounded: a UART that its process has disabled must not stop the kernel. */
void cmsdk_uart_putc(uintptr_t base, char c)
{
    for (unsigned spin = 0; spin < 1000000; spin++) {
        if (cmsdk_uart_ready(base)) {
            break;
        }
    }
    mmio_write(base + UART_DATA, (uint8_t)c);
}
