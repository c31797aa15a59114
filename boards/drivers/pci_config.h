/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Access to PCI's configuration space, one word at a time: in memory at the address in ACPI's MCFG,
 * or by a PC's two ports. One CPU at a time.
 */
#ifndef BOARDS_DRIVERS_PCI_CONFIG_H
#define BOARDS_DRIVERS_PCI_CONFIG_H

#include <stdint.h>

/* Initializes access. The configuration space of buses 0 to last_bus is at `base`, mapped as a
 * device; base 0: the ports are used, as for higher buses. */
void pci_config_begin(uintptr_t base, uint8_t last_bus);
uint32_t pci_config_read(uint16_t address, unsigned at);
void pci_config_write(uint16_t address, unsigned at, uint32_t value);

#endif
