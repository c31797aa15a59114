/* SPDX-License-Identifier: BSD-2-Clause */
/* Arm PL011 UART, polled (DDI 0183). base: address of its mapped registers. Any context. */
#ifndef BOARDS_DRIVERS_PL011_H
#define BOARDS_DRIVERS_PL011_H

#include <stdbool.h>
#include <stdint.h>

/* Line speed and format stay as the firmware has set them. */
void pl011_init(uintptr_t base);
bool pl011_ready(uintptr_t base);        /* whether its FIFO has room */
void pl011_putc(uintptr_t base, char c); /* waits while the FIFO is full */

#endif
