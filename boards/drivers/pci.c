/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PCI: see pci.h. The buses behind bridges are visited once each, as the firmware has numbered
 * them, regardless of the bridges' own numbers. A function with one refused range is left out
 * entirely: it may not even respond at its other ranges.
 */
#include "boards/drivers/pci.h"

#include <stddef.h>

/* Offsets in the configuration space. */
enum {
    ID = 0x00,
    COMMAND = 0x04,
    CLASS = 0x08,
    HEADER = 0x0c,
    BAR = 0x10,
    BUSES = 0x18,
    CAPABILITIES = 0x34,
    DEVICES = 0x40, /* capabilities are stored from here on */
};
#define ID_NONE 0xffffu
#define COMMAND_IO 1u
#define COMMAND_MEMORY 2u
#define COMMAND_MASTER 4u
#define COMMAND_NO_PIN 0x400u
#define STATUS_CAPABILITIES 0x100000u /* in the word of the command register */
#define HEADER_MULTI 0x80u
enum { HEADER_DEVICE = 0, HEADER_BRIDGE = 1 };
enum { CLASS_BRIDGE = 6, CLASS_SYSTEM = 8 };
#define BAR_IO 1u
#define BAR_KIND 6u
#define BAR_64 4u
#define BAR_FLAGS 15u
enum { CAPABILITY_MSI = 0x05, CAPABILITY_MSIX = 0x11 };
#define CAPABILITIES_MOST ((KYMO_PCI_CONFIG - DEVICES) / 4)
#define MSI_ENABLE 0x10000u
#define MSI_SEVERAL 0x700000u
#define MSI_64 0x800000u
#define MSI_MASKS 0x1000000u
#define MSIX_ENABLE 0x80000000u
#define MSIX_MASKED 0x40000000u

#define PAGE 4096ull
#define PHYSICAL_END (1ull << 52)

static uint64_t pages_start(uint64_t start)
{
    return start & ~(PAGE - 1);
}

static uint64_t pages_end(uint64_t start, uint64_t len)
{
    return (start + len + PAGE - 1) & ~(PAGE - 1);
}

static bool is_power_of_two(uint64_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

/* ---- ranges ------------------------------------------------------------------------ */

static bool pci_overlaps(const struct kymo_pci_function *f, uint64_t start, uint64_t len)
{
    for (unsigned i = 0; i < KYMO_PCI_BARS; i++) {
        if (f->bars[i].len && start < f->bars[i].start + f->bars[i].len &&
            f->bars[i].start < start + len) {
            return true;
        }
    }
    return false;
}

/* Returns whether the range is a possible range of a device, belongs to no other function, and may
 * belong to a process. A power of two that begins below PHYSICAL_END at a multiple of its length
 * ends there, too. */
static bool bar_sound(const struct pci_host *host, const struct kymo_pci_table *table,
                      const struct kymo_pci_function *f, uint64_t start, uint64_t len)
{
    if (!is_power_of_two(len) || start == 0 || start % len != 0 || start >= PHYSICAL_END) {
        return false;
    }
    for (unsigned i = 0; i < table->count; i++) {
        if (pci_overlaps(&table->functions[i], start, len)) {
            return false;
        }
    }
    uint64_t first = pages_start(start);
    return !pci_overlaps(f, start, len) && host->may_have(first, pages_end(start, len) - first);
}

/* Returns the bits of the register that hold an address; restores the register. */
static uint32_t bar_bits(const struct pci_host *host, uint16_t address, unsigned n, uint32_t value)
{
    host->write(address, BAR + 4 * n, UINT32_MAX);
    uint32_t bits = host->read(address, BAR + 4 * n);
    host->write(address, BAR + 4 * n, value);
    return bits;
}

/* Reads the ranges; the function must not respond at them meanwhile. Returns false if one of them
 * is refused. */
static bool bars_read(const struct pci_host *host, const struct kymo_pci_table *table,
                      struct kymo_pci_function *f)
{
    for (unsigned n = 0; n < KYMO_PCI_BARS; n++) {
        const unsigned at = n;
        uint32_t low = host->read(f->address, BAR + 4 * n);
        if (low & BAR_IO) {
            continue;
        }
        uint32_t bits = bar_bits(host, f->address, n, low);
        uint64_t start = low & ~BAR_FLAGS, len = (uint32_t)(~(bits & ~BAR_FLAGS) + 1);
        if ((low & BAR_KIND) == BAR_64 && n + 1 < KYMO_PCI_BARS) {
            uint32_t high = host->read(f->address, BAR + 4 * ++n);
            uint64_t high_bits = bar_bits(host, f->address, n, high);
            start |= (uint64_t)high << 32;
            len = ~(high_bits << 32 | (bits & ~BAR_FLAGS)) + 1;
        } else if (low & BAR_KIND) {
            return false;
        }
        if (len == 0 && start == 0) {
            continue;
        }
        if (!bar_sound(host, table, f, start, len)) {
            return false;
        }
        f->bars[at] = (struct kymo_pci_bar){start, len};
    }
    return true;
}

/* ---- messages ---------------------------------------------------------------------- */

/* Returns the offset of a capability whose first `bytes` are in the configuration space, or 0. A
 * circular list ends. */
static unsigned capability_find(const uint8_t *config, unsigned kind, unsigned bytes)
{
    unsigned at = config[CAPABILITIES] & ~3u;

    for (unsigned i = 0; i < CAPABILITIES_MOST && at >= DEVICES; i++) {
        if (config[at] == kind && at + bytes <= KYMO_PCI_CONFIG) {
            return at;
        }
        at = config[at + 1] & ~3u;
    }
    return 0;
}

static void msi_set(const struct pci_host *host, const struct kymo_pci_function *f)
{
    const unsigned at = f->capability;
    uint32_t head = host->read(f->address, at) & ~(MSI_ENABLE | MSI_SEVERAL);
    const unsigned data = head & MSI_64 ? at + 12 : at + 8;

    host->write(f->address, at, head);
    host->write(f->address, at + 4, (uint32_t)f->msi_address);
    if (head & MSI_64) {
        host->write(f->address, at + 8, (uint32_t)(f->msi_address >> 32));
    }
    host->write(f->address, data, f->msi_data);
    if ((head & MSI_MASKS) && data + 4 < KYMO_PCI_CONFIG) {
        host->write(f->address, data + 4, 0);
    }
}

unsigned pci_messages(const struct kymo_pci_table *table)
{
    unsigned given = 0;

    for (unsigned i = 0; i < table->count; i++) {
        given += table->functions[i].line != KYMO_PCI_NO_LINE;
    }
    return given;
}

/* MSI is preferred to MSI-X, because with MSI the driver has nothing to do. */
static void line_give(const struct pci_host *host, const struct kymo_pci_table *table,
                      struct kymo_pci_function *f)
{
    unsigned given = pci_messages(table), msi = 0, msix = 0;

    if (host->read(f->address, COMMAND) & STATUS_CAPABILITIES) {
        msi = capability_find(f->config, CAPABILITY_MSI, 16);
        msix = capability_find(f->config, CAPABILITY_MSIX, 12);
    }
    f->line = KYMO_PCI_NO_LINE;
    if ((msi || msix) && given < host->lines) {
        f->line = (uint16_t)(host->line_first + given);
        f->msi_address = host->msi_address;
        f->msi_data = host->msi_data + given;
        f->message = msi ? KYMO_PCI_MSI : KYMO_PCI_MSIX;
        f->capability = (uint8_t)(msi ? msi : msix);
    }
    if (f->message == KYMO_PCI_MSI) {
        msi_set(host, f);
    }
}

void pci_line_enable(const struct pci_host *host, const struct kymo_pci_table *table, unsigned line)
{
    const struct kymo_pci_function *f = table->functions;
    const struct kymo_pci_function *end = f + table->count;

    while (f < end && f->line != line) {
        f++;
    }
    if (f == end || line == KYMO_PCI_NO_LINE) {
        return;
    }
    uint32_t command = host->read(f->address, COMMAND) & 0xffff;
    uint32_t head = host->read(f->address, f->capability);
    const uint32_t on =
        f->message == KYMO_PCI_MSI ? head | MSI_ENABLE : (head & ~MSIX_MASKED) | MSIX_ENABLE;
    if (head != on || !(command & COMMAND_MASTER)) {
        host->write(f->address, COMMAND, command | COMMAND_MASTER | COMMAND_NO_PIN);
        host->write(f->address, f->capability, on);
    }
}

/* ---- functions --------------------------------------------------------------------- */

static void config_read(const struct pci_host *host, struct kymo_pci_function *f)
{
    for (unsigned at = 0; at < KYMO_PCI_CONFIG; at += 4) {
        uint32_t word = host->read(f->address, at);

        for (unsigned i = 0; i < 4; i++) {
            f->config[at + i] = (uint8_t)(word >> 8 * i);
        }
    }
}

static bool has_memory(const struct kymo_pci_function *f)
{
    for (unsigned i = 0; i < KYMO_PCI_BARS; i++) {
        if (f->bars[i].len) {
            return true;
        }
    }
    return false;
}

/* A status bit is cleared by writing 1, so the command is written with zeros above it. The pin's
 * interrupt is disabled, because it might be on the line of the NMIs. The firmware may have enabled
 * the function's bus access; from now on only a driver that attaches to its line enables it. */
static void function_add(const struct pci_host *host, struct kymo_pci_table *table,
                         uint16_t address)
{
    const uint32_t command = (host->read(address, COMMAND) & 0xffff) | COMMAND_NO_PIN;

    if (table->count == KYMO_PCI_FUNCTIONS) {
        table->omitted++;
        return;
    }
    struct kymo_pci_function *f = &table->functions[table->count];
    *f = (struct kymo_pci_function){.address = address};
    host->write(address, COMMAND, command & ~(COMMAND_IO | COMMAND_MEMORY));
    bool sound = bars_read(host, table, f), memory = has_memory(f);
    host->write(address, COMMAND,
                sound && memory ? (command & ~COMMAND_MASTER) | COMMAND_MEMORY : command);
    if (!sound || !memory) {
        table->refused += !sound;
        return;
    }
    config_read(host, f);
    line_give(host, table, f);
    table->count++;
}

static bool is_bridge(uint32_t header)
{
    return (header >> 16 & 0x7f) == HEADER_BRIDGE;
}

static bool is_for_drivers(uint32_t header, uint32_t class)
{
    return (header >> 16 & 0x7f) == HEADER_DEVICE && class >> 24 != CLASS_BRIDGE &&
           class >> 24 != CLASS_SYSTEM;
}

struct buses {
    uint32_t known[256 / 32];
    unsigned count;
    uint8_t queue[256];
};

static void bus_add(struct buses *buses, uint8_t bus)
{
    if (!(buses->known[bus / 32] >> bus % 32 & 1)) {
        buses->known[bus / 32] |= 1u << bus % 32;
        buses->queue[buses->count++] = bus;
    }
}

static void device_visit(const struct pci_host *host, struct kymo_pci_table *table,
                         struct buses *buses, uint16_t address)
{
    unsigned functions = 1;

    for (unsigned i = 0; i < functions; i++) {
        const uint16_t function = (uint16_t)(address | i);
        if ((host->read(function, ID) & 0xffff) == ID_NONE) {
            continue;
        }
        uint32_t header = host->read(function, HEADER);
        if (i == 0 && (header >> 16 & HEADER_MULTI)) {
            functions = 8;
        }
        if (is_bridge(header)) {
            bus_add(buses, (uint8_t)(host->read(function, BUSES) >> 8));
        } else if (is_for_drivers(header, host->read(function, CLASS))) {
            function_add(host, table, function);
        }
    }
}

void pci_enumerate(const struct pci_host *host, struct kymo_pci_table *table)
{
    struct buses buses = {.count = 0};

    *table = (struct kymo_pci_table){.magic = KYMO_PCI_MAGIC};
    bus_add(&buses, 0);
    for (unsigned i = 0; i < buses.count; i++) {
        for (unsigned device = 0; device < 32; device++) {
            device_visit(host, table, &buses, (uint16_t)(buses.queue[i] << 8 | device << 3));
        }
    }
}

/* The caller may round a range to pages; this function does the same. */
bool pci_has(const struct kymo_pci_table *table, uint64_t start, uint64_t len)
{
    for (unsigned i = 0; i < table->count; i++) {
        for (unsigned n = 0; n < KYMO_PCI_BARS; n++) {
            const struct kymo_pci_bar *bar = &table->functions[i].bars[n];
            uint64_t first = pages_start(bar->start), end = pages_end(bar->start, bar->len);

            if (bar->len && len && start >= first && start < end && len <= end - start) {
                return true;
            }
        }
    }
    return false;
}
