/* SPDX-License-Identifier: BSD-2-Clause */
/* Access to PCI's configuration space: see pci_config.h. PCI 3.0, 3.2.2.3.2; PCI Express 3.0,
 * 7.2.2. */
#include "boards/drivers/pci_config.h"

#include "boards/board.h"
#include "kernel/arch/x86_64/board.h"

#define ADDRESS_PORT 0xcf8
#define DATA_PORT 0xcfc
#define ADDRESS_ENABLE 0x80000000u

static uintptr_t memory;   /* [I] */
static uint8_t memory_bus; /* [I] the last one in it */

void pci_config_begin(uintptr_t base, uint8_t last_bus)
{
    memory = base;
    memory_bus = last_bus;
}

static bool in_memory(uint16_t address)
{
    return memory && address >> 8 <= memory_bus;
}

static uintptr_t config_place(uint16_t address, unsigned at)
{
    return memory + ((uintptr_t)address << 12) + at;
}

uint32_t pci_config_read(uint16_t address, unsigned at)
{
    if (in_memory(address)) {
        return mmio_read(config_place(address, at));
    }
    x86_out32(ADDRESS_PORT, ADDRESS_ENABLE | (uint32_t)address << 8 | at);
    return x86_in32(DATA_PORT);
}

void pci_config_write(uint16_t address, unsigned at, uint32_t value)
{
    if (in_memory(address)) {
        mmio_write(config_place(address, at), value);
        return;
    }
    x86_out32(ADDRESS_PORT, ADDRESS_ENABLE | (uint32_t)address << 8 | at);
    x86_out32(DATA_PORT, value);
}
