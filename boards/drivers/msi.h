/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interrupt lines that are messages. A device sends a message once, and not every device can be
 * told to wait; so a line is masked here, and a message that comes meanwhile is kept: unmasking the
 * line raises it again. Any context, interrupts of this CPU masked.
 */
#ifndef BOARDS_DRIVERS_MSI_H
#define BOARDS_DRIVERS_MSI_H

#include <stdbool.h>

#define MSI_LINES 32

/* `line` counts from 0. All are masked at first. */
void msi_mask(unsigned line);
/* Returns true if a message was kept: the caller raises the interrupt. */
bool msi_unmask(unsigned line);
/* Called for each message. Returns false if the line is masked: the message is kept. */
bool msi_take(unsigned line);

#endif
