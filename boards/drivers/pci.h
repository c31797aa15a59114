/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PCI: which functions there are, and what of them a driver process may have. Pure: all access goes
 * through struct pci_host. Boot, CPU 0; pci_line_enable() later, kernel lock held.
 * Nothing of what the configuration space says is trusted. PCI 3.0, 6; proved by
 * test/boards/drivers/pci_test.c.
 */
#ifndef BOARDS_DRIVERS_PCI_H
#define BOARDS_DRIVERS_PCI_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/pci.h"

#define PCI_LINES 32 /* the most that are given to functions */

struct pci_host {
    /* A word of a function's configuration space: `at` is a multiple of 4 below 256. */
    uint32_t (*read)(uint16_t address, unsigned at);
    void (*write)(uint16_t address, unsigned at, uint32_t value);
    /* Returns whether a process may have this range, which is of whole pages: no RAM, nothing of
     * the kernel's. */
    bool (*may_have)(uint64_t start, uint64_t len);
    /* Messages of the lines: line_first + n is raised by writing msi_data + n to msi_address. */
    uint64_t msi_address;
    uint32_t msi_data;
    uint16_t line_first;
    unsigned lines; /* at most PCI_LINES */
};

/* Fills the table. Functions that are in it answer at their memory ranges from now on; none of them
 * has become a bus master, and none sends messages. */
void pci_enumerate(const struct pci_host *host, struct kymo_pci_table *table);
/* Returns whether the range lies in the pages of a function's memory. */
bool pci_has(const struct kymo_pci_table *table, uint64_t start, uint64_t len);
/* Returns how many lines functions have got. */
unsigned pci_messages(const struct kymo_pci_table *table);
/* Lets the function of this line use the bus and send its messages; at each later call nothing. */
void pci_line_enable(const struct pci_host *host, const struct kymo_pci_table *table,
                     unsigned line);

#endif
