/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Devices of Arm's Cortex-M System Design Kit, as on the MPS2 boards: APB UART, timer, watchdog.
 * Source: Arm DDI 0479. Polled; any context.
 */
#ifndef BOARDS_DRIVERS_CMSDK_H
#define BOARDS_DRIVERS_CMSDK_H

#include <stdbool.h>
#include <stdint.h>

/* divisor: clock / baud rate, at least 16. */
void cmsdk_uart_init(uintptr_t base, uint32_t divisor);
/* Returns whether its transmit buffer has room. */
bool cmsdk_uart_ready(uintptr_t base);
/* Waits while the transmit buffer is full. */
void cmsdk_uart_putc(uintptr_t base, char c);

/* Makes the timer count down through all 32 bits forever, without interrupts. */
void cmsdk_timer_free_run(uintptr_t base);

/* Raises the dual timer's interrupt once, after `cycles` cycles of its clock; 0 disables it.
 * Cancels an interrupt that is already pending. */
void cmsdk_dual_once(uintptr_t base, uint32_t cycles);

/* Like arch_watchdog_set(); hz: frequency of its clock. */
int cmsdk_watchdog_set(uintptr_t base, uint32_t hz, unsigned ms);

#endif
