/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PCI: the functions in the system, and the parts of them that a driver process may access. Pure:
 * all access goes through struct pci_host. Boot, CPU 0; pci_line_enable() later, kernel lock held.
 * The configuration space's data is not trusted. PCI 3.0, 6. Tested by
 * test/boards/drivers/pci_test.c.
 */
#ifndef BOARDS_DRIVERS_PCI_H
#define BOARDS_DRIVERS_PCI_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/pci.h"

#define PCI_LINES 32 /* most lines that are assigned to functions */

struct pci_host {
    /* Accesses a word of a function's configuration space: `at` is a multiple of 4 below 256. */
    uint32_t (*read)(uint16_t address, unsigned at);
    void (*write)(uint16_t address, unsigned at, uint32_t value);
    /* Returns whether a process may have this range of whole pages: not RAM, and not the
     * kernel's. */
    bool (*may_have)(uint64_t start, uint64_t len);
    /* Writing msi_data + n to msi_address raises line line_first + n. */
    uint64_t msi_address;
    uint32_t msi_data;
    uint16_t line_first;
    unsigned lines; /* at most PCI_LINES */
};

/* Fills the table. Its functions respond at their memory ranges from now on; none of them is a bus
 * master or sends messages yet. */
void pci_enumerate(const struct pci_host *host, struct kymo_pci_table *table);
/* Returns whether the range is in the pages of a function's memory. */
bool pci_has(const struct kymo_pci_table *table, uint64_t start, uint64_t len);
/* Returns the number of lines assigned to functions. */
unsigned pci_messages(const struct kymo_pci_table *table);
/* Enables bus access and messages of this line's function; later calls do nothing. */
void pci_line_enable(const struct pci_host *host, const struct kymo_pci_table *table,
                     unsigned line);

#endif
