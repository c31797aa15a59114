/* SPDX-License-Identifier: BSD-2-Clause */
/* The firmware's tables (ACPI): the CPUs, and the location of PCI's configuration space. Boot, CPU
 * 0. */
#ifndef BOARDS_DRIVERS_ACPI_H
#define BOARDS_DRIVERS_ACPI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ACPI_MAX_CPUS 8

struct acpi_facts {
    unsigned cpus; /* number of CPUs, of which the kernel can use at most ACPI_MAX_CPUS */
    uint32_t apic[ACPI_MAX_CPUS]; /* of these, each once */
    uint64_t pci_config; /* physical address of that of bus 0 (MCFG); 0: it isn't in memory */
    uint8_t pci_last;    /* the last bus in it */
};

/* Reads the tables that the pointer structure at `rsdp` refers to; 0: it is searched for where a
 * BIOS puts it. `map` makes firmware memory readable, and returns 0 if it can't. Returns false if
 * there are no tables, or if those that list the CPUs are damaged. */
bool acpi_read(uint64_t rsdp, uintptr_t (*map)(uintptr_t pa, size_t len), struct acpi_facts *out);

#endif
