/* SPDX-License-Identifier: BSD-2-Clause */
/* An I/O APIC: which vector its lines send, and their masks. Interrupts of this CPU masked. */
#ifndef BOARDS_DRIVERS_IOAPIC_H
#define BOARDS_DRIVERS_IOAPIC_H

#include <stdint.h>

/* All lines level-triggered and masked; those from `first_low` on are active low, as PCI's are.
 * Returns the number of lines. */
unsigned ioapic_init(uintptr_t base, unsigned first_low);
void ioapic_mask(unsigned line);
void ioapic_unmask(unsigned line);
/* An edge of this line is an NMI at the CPU that calls this; no one else may mask it. */
void ioapic_nmi(unsigned line);

#endif
