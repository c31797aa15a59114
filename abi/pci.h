/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PCI functions that the kernel of a PC leaves to driver processes: a table in memory, at a fixed
 * physical address, which a process with the ability `device` maps as a device, for reading. The
 * kernel has read the configuration space, located the functions' memory, and assigned an interrupt
 * line to each function that sends messages (MSI, MSI-X). Bridges are not in the table.
 */
#ifndef ABI_PCI_H
#define ABI_PCI_H

#include <stdint.h>

#include "abi/static_assert.h"

#define KYMO_PCI_TABLE 0x9000u
#define KYMO_PCI_TABLE_BYTES 0x4000u
#define KYMO_PCI_MAGIC 0x6963706bu
#define KYMO_PCI_FUNCTIONS 40
#define KYMO_PCI_BARS 6
#define KYMO_PCI_CONFIG 256
#define KYMO_PCI_NO_LINE 0xffffu

enum kymo_pci_message {
    KYMO_PCI_MESSAGE_NONE = 0,
    KYMO_PCI_MSI = 1,  /* the kernel has set it up */
    KYMO_PCI_MSIX = 2, /* the driver writes msi_address and msi_data into the device's table */
};

/* A range of the function's memory that its driver may map; len 0: none. */
struct kymo_pci_bar {
    uint64_t start, len;
};

struct kymo_pci_function {
    uint16_t address;   /* bus << 8 | device << 3 | function */
    uint16_t line;      /* for InterruptAttachEvent(), or KYMO_PCI_NO_LINE */
    uint8_t message;    /* enum kymo_pci_message */
    uint8_t capability; /* offset in config[] of the MSI or MSI-X capability */
    uint16_t reserved;
    uint64_t msi_address;
    uint32_t msi_data, reserved2;
    struct kymo_pci_bar bars[KYMO_PCI_BARS];
    uint8_t config[KYMO_PCI_CONFIG]; /* its contents at boot */
};

struct kymo_pci_table {
    uint32_t magic;
    uint32_t count;   /* number of entries in functions[] */
    uint32_t refused; /* functions with a range that a process must not have */
    uint32_t omitted; /* functions that didn't fit the table */
    struct kymo_pci_function functions[KYMO_PCI_FUNCTIONS];
};

KYMO_STATIC_ASSERT(sizeof(struct kymo_pci_function) == 24 + 96 + 256,
                   "the same for kernel and drivers");
KYMO_STATIC_ASSERT(sizeof(struct kymo_pci_table) <= KYMO_PCI_TABLE_BYTES, "the table's pages");

#endif
