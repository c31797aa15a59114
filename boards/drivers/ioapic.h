/* SPDX-License-Identifier: BSD-2-Clause */
/* An I/O APIC: the vectors of its lines, and their masks. Interrupts of this CPU masked. */
#ifndef BOARDS_DRIVERS_IOAPIC_H
#define BOARDS_DRIVERS_IOAPIC_H

#include <stdint.h>

/* Makes all lines level-triggered and masked; those from `first_low` on are active low, like PCI's.
 * Returns the number of lines. */
unsigned ioapic_init(uintptr_t base, unsigned first_low);
void ioapic_mask(unsigned line);
void ioapic_unmask(unsigned line);
/* Makes an edge of this line an NMI at the CPU that calls this; the line must not be masked
 * afterwards. */
void ioapic_nmi(unsigned line);

#endif
