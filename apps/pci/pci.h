/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PCI for driver processes: a function of the kernel's table (abi/pci.h), its capabilities, its
 * memory, its messages. Needs the ability device. One thread.
 */
#ifndef APPS_PCI_PCI_H
#define APPS_PCI_PCI_H

#include <stddef.h>
#include <stdint.h>

#include "abi/pci.h"

#define PCI_CAPABILITIES ((KYMO_PCI_CONFIG - 0x40) / 4)
#define PCI_CLASS(f) ((uint32_t)(f)->config[11] << 16 | (f)->config[10] << 8 | (f)->config[9])
#define PCI_VENDOR(f) ((uint32_t)(f)->config[1] << 8 | (f)->config[0])
#define PCI_DEVICE(f) ((uint32_t)(f)->config[3] << 8 | (f)->config[2])
#define PCI_SUBSYSTEM(f) ((uint32_t)(f)->config[0x2f] << 8 | (f)->config[0x2e])

/* Returns the machine's functions, read-only, and their number; NULL: the table can't be mapped
 * (errno), or there is none (ENODEV). */
const struct kymo_pci_function *pci_functions(unsigned *count);
/* Returns the offset in config[] of the capability after the one at `at` (0: of the first); 0:
 * there is none. The list may go in a circle: callers follow it PCI_CAPABILITIES steps at most. */
unsigned pci_capability_next(const struct kymo_pci_function *f, unsigned at);
/* Returns bytes of config[], little-endian; 0 beyond its end. */
uint32_t pci_config32(const struct kymo_pci_function *f, unsigned at);
/* Maps bytes of a memory range (bars[]), from an offset on. Returns NULL if they aren't all in it,
 * or can't be mapped (errno). */
volatile void *pci_map(const struct kymo_pci_function *f, unsigned bar, uint64_t offset,
                       size_t bytes);
/* Makes the device send all its messages as one, to the function's line; InterruptAttachEvent()
 * then enables them. Returns 0 or an errno; ENODEV: it sends none. */
int pci_messages_begin(const struct kymo_pci_function *f);

#endif
