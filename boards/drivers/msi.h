/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interrupt lines that are messages. A device sends a message once, and not every device can be
 * made to wait; so the line is masked in software, and a message that arrives meanwhile is kept:
 * unmasking the line raises it again. Any context, interrupts of this CPU masked.
 */
#ifndef BOARDS_DRIVERS_MSI_H
#define BOARDS_DRIVERS_MSI_H

#include <stdbool.h>

#define MSI_LINES 32

/* `line` counts from 0. All are masked initially. */
void msi_mask(unsigned line);
/* Returns whether a message was kept: the caller then raises the interrupt. */
bool msi_unmask(unsigned line);
/* Called for each message. Returns false if the line is masked: the message is kept. */
bool msi_take(unsigned line);

#endif
