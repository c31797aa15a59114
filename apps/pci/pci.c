/* SPDX-License-Identifier: BSD-2-Clause */
/* See pci.h. Values that the device reports are checked. PCI 3.0, 6.7 and 6.8. */
#include "apps/pci/pci.h"

#include <errno.h>

#include "abi/sys/kymo.h"

#define PAGE 4096u
#define CAPABILITIES 0x34
#define CAPABILITIES_FIRST 0x40
#define STATUS 0x06
#define STATUS_CAPABILITIES 0x10

/* MSI-X: offsets in the capability, and an entry of the table in words. */
enum { MSIX_COUNT = 2, MSIX_TABLE = 4 };
#define MSIX_COUNT_MASK 0x7ffu
#define MSIX_BAR 7u
enum {
    ENTRY_ADDRESS = 0,
    ENTRY_ADDRESS_HIGH = 1,
    ENTRY_DATA = 2,
    ENTRY_MASKED = 3,
    ENTRY_WORDS = 4
};

const struct kymo_pci_function *pci_functions(unsigned *count)
{
    struct kymo_map map = {.phys = KYMO_PCI_TABLE,
                           .len = KYMO_PCI_TABLE_BYTES,
                           .flags = KYMO_MAP_DEVICE | KYMO_PROT_READ};

    if (MemMap(&map) < 0) {
        return NULL;
    }
    const struct kymo_pci_table *table = (const void *)(uintptr_t)map.vaddr;
    if (table->magic != KYMO_PCI_MAGIC || table->count > KYMO_PCI_FUNCTIONS) {
        errno = ENODEV;
        return NULL;
    }
    *count = table->count;
    return table->functions;
}

uint32_t pci_config32(const struct kymo_pci_function *f, unsigned at)
{
    uint32_t value = 0;

    for (unsigned i = 0; i < 4 && at + i < KYMO_PCI_CONFIG; i++) {
        value |= (uint32_t)f->config[at + i] << 8 * i;
    }
    return value;
}

unsigned pci_capability_next(const struct kymo_pci_function *f, unsigned at)
{
    if (!(f->config[STATUS] & STATUS_CAPABILITIES) || at >= KYMO_PCI_CONFIG - 1) {
        return 0;
    }
    unsigned next = f->config[at ? at + 1 : CAPABILITIES] & ~3u;

    return next >= CAPABILITIES_FIRST ? next : 0;
}

volatile void *pci_map(const struct kymo_pci_function *f, unsigned bar, uint64_t offset,
                       size_t bytes)
{
    if (bar >= KYMO_PCI_BARS || bytes == 0 || bytes > f->bars[bar].len ||
        offset > f->bars[bar].len - bytes) {
        errno = EINVAL;
        return NULL;
    }
    const uint64_t start = f->bars[bar].start + offset, page = start & ~(uint64_t)(PAGE - 1);
    struct kymo_map map = {.phys = page,
                           .len = start - page + bytes,
                           .flags = KYMO_MAP_DEVICE | KYMO_PROT_READ | KYMO_PROT_WRITE};

    return MemMap(&map) < 0 ? NULL : (volatile char *)(uintptr_t)map.vaddr + (start - page);
}

static int msix_begin(const struct kymo_pci_function *f)
{
    const uint32_t table = pci_config32(f, f->capability + MSIX_TABLE);
    unsigned count = (pci_config32(f, f->capability + MSIX_COUNT) & MSIX_COUNT_MASK) + 1;
    volatile uint32_t *entry =
        pci_map(f, table & MSIX_BAR, table & ~MSIX_BAR, count * ENTRY_WORDS * sizeof(*entry));

    if (!entry) {
        return ENODEV;
    }
    for (; count > 0; count--, entry += ENTRY_WORDS) {
        entry[ENTRY_ADDRESS] = (uint32_t)f->msi_address;
        entry[ENTRY_ADDRESS_HIGH] = (uint32_t)(f->msi_address >> 32);
        entry[ENTRY_DATA] = f->msi_data;
        entry[ENTRY_MASKED] = 0;
    }
    return 0;
}

int pci_messages_begin(const struct kymo_pci_function *f)
{
    if (f->line == KYMO_PCI_NO_LINE) {
        return ENODEV;
    }
    return f->message == KYMO_PCI_MSIX ? msix_begin(f) : 0;
}
