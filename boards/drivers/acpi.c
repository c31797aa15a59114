/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads ACPI's tables: see acpi.h. The firmware's data is not trusted: each table has bounds and a
 * checksum, and an entry that reaches out of its table ends the table.
 */
#include "boards/drivers/acpi.h"

#include "boards/board.h"

struct pointer { /* RSDP */
    char signature[8];
    uint8_t checksum, oem[6], revision;
    uint32_t rsdt;
    /* from revision 2 on */
    uint32_t length;
    uint64_t xsdt;
    uint8_t checksum_all, reserved[3];
} __attribute__((packed));
#define POINTER_BYTES_1 20u

struct table {
    char signature[4];
    uint32_t length;
    uint8_t revision, checksum, oem[6], oem_table[8];
    uint32_t oem_revision, creator, creator_revision;
} __attribute__((packed));
#define TABLE_BYTES_MOST 0x10000u

struct madt {
    struct table head;
    uint32_t local_apic, flags;
} __attribute__((packed));

struct mcfg {
    struct table head;
    uint8_t reserved[8];
} __attribute__((packed));
struct config_space {
    uint64_t bus0;
    uint16_t segment;
    uint8_t first, last, reserved[4];
} __attribute__((packed));

struct entry {
    uint8_t type, length;
} __attribute__((packed));
struct local_apic {
    struct entry head;
    uint8_t processor, apic;
    uint32_t flags;
} __attribute__((packed));
struct local_x2apic {
    struct entry head;
    uint16_t reserved;
    uint32_t apic, flags, processor;
} __attribute__((packed));
enum { ENTRY_LOCAL_APIC = 0, ENTRY_LOCAL_X2APIC = 9 };
#define CPU_ENABLED 1u
#define APIC_EVERY 0xff /* not for a single CPU */
#define X2APIC_EVERY UINT32_MAX

static bool sums_to_0(const void *at, size_t bytes)
{
    const uint8_t *byte = at;
    uint8_t sum = 0;

    for (size_t i = 0; i < bytes; i++) {
        sum = (uint8_t)(sum + byte[i]);
    }
    return sum == 0;
}

static const struct pointer *pointer_at(uintptr_t address)
{
    const struct pointer *p = (const struct pointer *)address;

    return address && __builtin_memcmp(p->signature, "RSD PTR ", 8) == 0 &&
                   sums_to_0(p, POINTER_BYTES_1)
               ? p
               : NULL;
}

/* Finds the pointer structure, which a BIOS aligns to 16 bytes, in the first KB of its data area or
 * below 1 MB. */
static const struct pointer *pointer_find(uintptr_t (*map)(uintptr_t pa, size_t len))
{
    const uintptr_t low = map(0, 0x100000);

    if (low == 0) {
        return NULL;
    }
    const uintptr_t area = (uintptr_t) * (const uint16_t *)(low + 0x40e) << 4;
    const struct {
        uintptr_t from, to;
    } places[] = {{area, area + 0x400}, {0xe0000, 0x100000}};
    for (unsigned i = 0; i < 2; i++) {
        for (uintptr_t pa = places[i].from; pa && pa + 36 <= places[i].to; pa += 16) {
            const struct pointer *p = pointer_at(low + pa);
            if (p) {
                return p;
            }
        }
    }
    return NULL;
}

static const struct table *table_at(uint64_t pa, uintptr_t (*map)(uintptr_t pa, size_t len))
{
    const struct table *t = (const struct table *)(pa ? map(pa, sizeof(*t)) : 0);

    if (!t || t->length < sizeof(*t) || t->length > TABLE_BYTES_MOST) {
        return NULL;
    }
    t = (const struct table *)map(pa, t->length);
    return t && sums_to_0(t, t->length) ? t : NULL;
}

/* Returns the first table with this signature that the pointer structure refers to. */
static const struct table *table_find(const struct pointer *p, const char *signature,
                                      uintptr_t (*map)(uintptr_t pa, size_t len))
{
    const bool wide = p->revision >= 2 && p->xsdt;
    const struct table *root = table_at(wide ? p->xsdt : p->rsdt, map);
    const size_t each = wide ? 8 : 4;

    for (size_t at = sizeof(*root); root && at + each <= root->length; at += each) {
        uint64_t pa = 0;
        __builtin_memcpy(&pa, (const char *)root + at, each);
        const struct table *t = table_at(pa, map);
        if (t && __builtin_memcmp(t->signature, signature, 4) == 0) {
            return t;
        }
    }
    return NULL;
}

/* A faulty firmware may list a CPU twice. */
static bool cpu_known(const struct acpi_facts *facts, uint32_t apic)
{
    for (unsigned i = 0; i < facts->cpus && i < ACPI_MAX_CPUS; i++) {
        if (facts->apic[i] == apic) {
            return true;
        }
    }
    return false;
}

static void cpu_add(struct acpi_facts *out, uint32_t apic, uint32_t flags)
{
    if (!(flags & CPU_ENABLED) || cpu_known(out, apic)) {
        return;
    }
    if (out->cpus < ACPI_MAX_CPUS) {
        out->apic[out->cpus] = apic;
    }
    out->cpus++;
}

/* CPUs with identifiers from 255 on, or all of them, have entries of their own kind. */
static void madt_read(const struct table *madt, struct acpi_facts *out)
{
    const struct entry *e;

    for (size_t at = sizeof(struct madt); at + sizeof(*e) <= madt->length; at += e->length) {
        e = (const struct entry *)((const char *)madt + at);
        if (e->length < sizeof(*e) || at + e->length > madt->length) {
            return;
        }
        const struct local_apic *cpu = (const struct local_apic *)e;
        const struct local_x2apic *x2 = (const struct local_x2apic *)e;
        if (e->type == ENTRY_LOCAL_APIC && e->length >= sizeof(*cpu) && cpu->apic != APIC_EVERY) {
            cpu_add(out, cpu->apic, cpu->flags);
        } else if (e->type == ENTRY_LOCAL_X2APIC && e->length >= sizeof(*x2) &&
                   x2->apic != X2APIC_EVERY) {
            cpu_add(out, x2->apic, x2->flags);
        }
    }
}

/* Reads the address for the first segment, from bus 0 on. */
static void mcfg_read(const struct table *mcfg, struct acpi_facts *out)
{
    const struct config_space *space;

    for (size_t at = sizeof(struct mcfg); at + sizeof(*space) <= mcfg->length;
         at += sizeof(*space)) {
        space = (const struct config_space *)((const char *)mcfg + at);
        if (space->segment == 0 && space->first == 0) {
            out->pci_config = space->bus0;
            out->pci_last = space->last;
            return;
        }
    }
}

bool acpi_read(uint64_t rsdp, uintptr_t (*map)(uintptr_t pa, size_t len), struct acpi_facts *out)
{
    const struct pointer *p = rsdp ? pointer_at(map(rsdp, sizeof(*p))) : NULL;

    *out = (struct acpi_facts){0};
    if (!p) {
        p = pointer_find(map);
    }
    const struct table *madt = p ? table_find(p, "APIC", map) : NULL;
    if (madt) {
        madt_read(madt, out);
    }
    const struct table *mcfg = p ? table_find(p, "MCFG", map) : NULL;
    if (mcfg) {
        mcfg_read(mcfg, out);
    }
    return out->cpus > 0;
}
