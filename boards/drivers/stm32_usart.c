/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An STM32 USART as the kernel's polled console. A console process may own the same USART's
 * interrupts: the kernel accesses only SR and DR after set-up. Tested by every boot of stm32f4.
 */
#include "boards/board.h"
#include "boards/drivers/stm32.h"

#define USART_SR 0x00
#define USART_DR 0x04
#define USART_BRR 0x08
#define USART_CR1 0x0c
#define SR_TXE (1u << 7)
#define CR1_RE (1u << 2)
#define CR1_TE (1u << 3)
#define CR1_UE (1u << 13)

void stm32_usart_init(uintptr_t base, uint32_t divisor)
{
    mmio_write(base + USART_CR1, 0);
    mmio_write(base + USART_BRR, divisor);
    mmio_write(base + USART_CR1, CR1_UE | CR1_TE | CR1_RE);
}

bool stm32_usart_ready(uintptr_t base)
{
    return (mmio_read(base + USART_SR) & SR_TXE) != 0;
}

/* Bounded: a USART that its process has disabled must not stop the kernel. */
void stm32_usart_putc(uintptr_t base, char c)
{
    for (unsigned spin = 0; spin < 1000000; spin++) {
        if (stm32_usart_ready(base)) {
            break;
        }
    }
    mmio_write(base + USART_DR, (uint8_t)c);
}
