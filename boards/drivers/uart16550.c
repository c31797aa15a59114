/* SPDX-License-Identifier: BSD-2-Clause */
/* A 16550 UART: see uart16550.h. */
#include "boards/drivers/uart16550.h"
#include "kernel/arch/x86_64/board.h"

enum { DATA = 0, DIVISOR_LOW = 0, IER = 1, DIVISOR_HIGH = 1, FCR = 2, LCR = 3, MCR = 4, LSR = 5 };

#define LCR_8N1 0x03
#define LCR_DIVISOR 0x80
#define FCR_ON_CLEARED 0x07
#define MCR_READY 0x0b /* DTR, RTS, and OUT2, which enables interrupts on a PC */
#define LSR_HOLDING_EMPTY 0x20
#define DIVISOR_115200 1
/* A missing port reads as all ones, and a missing UART must not stop the kernel. */
#define POLLS_MOST 1000000u

void uart16550_init(uint16_t port)
{
    x86_out8(port + IER, 0);
    x86_out8(port + LCR, LCR_DIVISOR | LCR_8N1);
    x86_out8(port + DIVISOR_LOW, DIVISOR_115200);
    x86_out8(port + DIVISOR_HIGH, 0);
    x86_out8(port + LCR, LCR_8N1);
    x86_out8(port + FCR, FCR_ON_CLEARED);
    x86_out8(port + MCR, MCR_READY);
}

bool uart16550_ready(uint16_t port)
{
    return x86_in8(port + LSR) & LSR_HOLDING_EMPTY;
}

void uart16550_putc(uint16_t port, char c)
{
    for (unsigned i = 0; i < POLLS_MOST && !uart16550_ready(port); i++) {
    }
    x86_out8(port + DATA, (uint8_t)c);
}
