/* SPDX-License-Identifier: BSD-2-Clause */
/* A 16550 UART at I/O ports: output, polled. Any context. */
#ifndef BOARDS_DRIVERS_UART16550_H
#define BOARDS_DRIVERS_UART16550_H

#include <stdbool.h>
#include <stdint.h>

/* Sets 115200 baud, 8N1, FIFOs on, no interrupts. */
void uart16550_init(uint16_t port);
void uart16550_putc(uint16_t port, char c);
bool uart16550_ready(uint16_t port);

#endif
