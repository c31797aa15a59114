/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * boards/drivers/pci.c against a model of a machine's configuration space: functions, memory ranges
 * and lines of a sound one; bridges in a circle; ranges that overlap RAM, the kernel's devices or
 * each other, and those of sizes that no device has; lists of capabilities that lead in a circle or
 * out of the space; more functions than the table has room for; and random bytes. Whatever the
 * space says: what a process may map is what it may have, no two functions have the same memory,
 * nothing that isn't in the table answers at memory that it didn't before, and no function uses the
 * bus before its line is enabled. Built with ASan and UBSan. KYMO_SEED=n repeats the random part.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "boards/drivers/pci.h"

#define PAGE 4096ull
#define RAM_END 0x10000000ull
#define CHIPS 0xfec00000ull
#define FOUR_GB 0x100000000ull
#define HIGH_RAM_END 0x180000000ull /* from 4 GB on */
#define LINE_FIRST 128
#define MESSAGES 0xfee01000ull
#define VECTOR 0xb0u
#define ROUNDS 3000
#define MODELS 512

enum { COMMAND = 4, CLASS = 8, HEADER = 12, BAR = 16, BUSES = 0x18, CAPABILITIES = 0x34 };
#define IS_64 4u

/* A function of the model: the bytes of its space, and which bits of a range it says can be
 * written. */
struct model {
    uint16_t address;
    uint8_t config[256];
    uint32_t writable[6];
    bool measured[6];       /* all ones were written, so it tells these bits */
    bool measured_while_on; /* a range was measured while the function answered at it */
};

static struct model models[MODELS];
static unsigned count;
static unsigned accesses;
static struct kymo_pci_table table;

static struct model *model_at(uint16_t address)
{
    for (unsigned i = 0; i < count; i++) {
        if (models[i].address == address) {
            return &models[i];
        }
    }
    return NULL;
}

static uint32_t get(const struct model *m, unsigned at)
{
    uint32_t value;

    memcpy(&value, m->config + at, 4);
    return value;
}

static void set(struct model *m, unsigned at, uint32_t value)
{
    memcpy(m->config + at, &value, 4);
}

static uint32_t model_read(uint16_t address, unsigned at)
{
    const struct model *m = model_at(address);

    accesses++;
    assert_true(at % 4 == 0 && at < 256);
    return m ? get(m, at) : UINT32_MAX;
}

static void model_write(uint16_t address, unsigned at, uint32_t value)
{
    struct model *m = model_at(address);

    accesses++;
    assert_true(m && at % 4 == 0 && at < 256);
    if (at == COMMAND) {
        value = (get(m, at) & 0xffff0000) | (value & 0xffff);
    } else if (at >= BAR && at < BAR + 24) {
        const unsigned n = (at - BAR) / 4;
        m->measured[n] = !m->measured[n] && value == UINT32_MAX;
        m->measured_while_on |= m->measured[n] && (get(m, COMMAND) & 2);
        value = m->measured[n] ? m->writable[n] | (get(m, at) & 15) : value;
    } else {
        assert_true(at >= 0x40);
    }
    set(m, at, value);
}

static bool touches(uint64_t start, uint64_t len, uint64_t from, uint64_t end)
{
    return start < end && from < start + len;
}

static bool is_kept(uint64_t start, uint64_t len)
{
    return touches(start, len, 0, RAM_END) || touches(start, len, CHIPS, HIGH_RAM_END);
}

static bool may_have(uint64_t start, uint64_t len)
{
    assert_true(start % PAGE == 0 && len % PAGE == 0 && len > 0 && start + len > start);
    return !is_kept(start, len);
}

static const struct pci_host host = {
    .read = model_read,
    .write = model_write,
    .may_have = may_have,
    .msi_address = MESSAGES,
    .msi_data = VECTOR,
    .line_first = LINE_FIRST,
    .lines = PCI_LINES,
};

/* ---- making ------------------------------------------------------------------------ */

static struct model *add(unsigned bus, unsigned device, unsigned function, uint32_t class)
{
    struct model *m = &models[count++];

    assert_true(count <= MODELS);
    *m = (struct model){.address = (uint16_t)(bus << 8 | device << 3 | function)};
    set(m, 0, 0x10421af4);
    set(m, CLASS, class << 8);
    return m;
}

static void bridge_to(unsigned bus, unsigned device, unsigned below)
{
    struct model *m = add(bus, device, 0, 0x060400);

    m->config[14] = 1;
    m->config[BUSES + 1] = (uint8_t)below;
}

/* Of len 2^bits. */
static void range(struct model *m, unsigned n, uint64_t start, unsigned bits, bool wide)
{
    uint64_t writable = ~((1ull << bits) - 1) & ~15ull;

    set(m, BAR + 4 * n, (uint32_t)start | (wide ? IS_64 : 0));
    m->writable[n] = (uint32_t)writable;
    if (wide) {
        set(m, BAR + 4 * n + 4, (uint32_t)(start >> 32));
        m->writable[n + 1] = (uint32_t)(writable >> 32);
    }
}

static void capability(struct model *m, unsigned at, unsigned kind, unsigned next)
{
    m->config[6] = 0x10;
    m->config[at] = (uint8_t)kind;
    m->config[at + 1] = (uint8_t)next;
}

static int begin(void **state)
{
    (void)state;
    count = accesses = 0;
    return 0;
}

/* ---- what holds of every machine --------------------------------------------------- */

static const struct kymo_pci_function *listed(uint16_t address)
{
    for (unsigned i = 0; i < table.count; i++) {
        if (table.functions[i].address == address) {
            return &table.functions[i];
        }
    }
    return NULL;
}

static void check_ranges(void)
{
    for (unsigned i = 0; i < table.count * KYMO_PCI_BARS; i++) {
        const struct kymo_pci_bar *a = &table.functions[i / 6].bars[i % 6];
        if (a->len == 0) {
            continue;
        }
        const uint64_t first = a->start & ~(PAGE - 1),
                       end = (a->start + a->len + PAGE - 1) & ~(PAGE - 1);
        assert_true(end > first && !is_kept(first, end - first));
        assert_true(pci_has(&table, first, end - first) && pci_has(&table, end - PAGE, PAGE));
        assert_false(pci_has(&table, first, end - first + PAGE) && end % (2 * PAGE) == PAGE);
        for (unsigned k = 0; k < i; k++) {
            const struct kymo_pci_bar *b = &table.functions[k / 6].bars[k % 6];
            assert_false(b->len && touches(a->start, a->len, b->start, b->start + b->len));
        }
    }
    assert_false(pci_has(&table, 0, PAGE) || pci_has(&table, CHIPS, PAGE) ||
                 pci_has(&table, RAM_END - PAGE, PAGE) ||
                 pci_has(&table, RAM_END - PAGE, 2 * PAGE));
}

static void check_lines(void)
{
    uint64_t given = 0;

    for (unsigned i = 0; i < table.count; i++) {
        const unsigned line = table.functions[i].line;
        if (line != KYMO_PCI_NO_LINE) {
            assert_in_range(line, LINE_FIRST, LINE_FIRST + PCI_LINES - 1);
            assert_false(given >> (line - LINE_FIRST) & 1);
            given |= 1ull << (line - LINE_FIRST);
            assert_int_equal(table.functions[i].msi_data, VECTOR + line - LINE_FIRST);
        }
    }
    assert_int_equal(pci_messages(&table), __builtin_popcountll(given));
}

static void enumerate(void)
{
    static struct model before[MODELS];

    memcpy(before, models, sizeof(models));
    pci_enumerate(&host, &table);
    assert_true(accesses < 256 * 32 * 8 * 2 + MODELS * 200);
    assert_true(table.count <= KYMO_PCI_FUNCTIONS);
    for (unsigned i = 0; i < count; i++) {
        assert_false(models[i].measured_while_on);
        before[i].config[COMMAND + 1] |= models[i].config[COMMAND + 1] & 4; /* no pin's interrupt */
        if (!listed(models[i].address)) {
            assert_memory_equal(models[i].config, before[i].config, 256);
        } else {
            assert_int_equal(models[i].config[COMMAND] & 4, 0); /* nor does it use the bus yet */
            assert_true(models[i].config[COMMAND + 1] & 4);
            assert_memory_equal(models[i].config + BAR, before[i].config + BAR, 24);
            assert_true(models[i].config[COMMAND] & 2);
        }
    }
    check_ranges();
    check_lines();
}

/* ---- tests ------------------------------------------------------------------------- */

static void a_sound_machine(void **state)
{
    (void)state;
    add(0, 0, 0, 0x060000);
    bridge_to(0, 1, 1);
    struct model *disk = add(1, 0, 0, 0x010000);
    range(disk, 1, 0xfe800000, 12, false);
    range(disk, 4, 0x8000004000, 14, true);
    disk->config[CAPABILITIES] = 0x40;
    capability(disk, 0x40, 0x09, 0x98);
    capability(disk, 0x98, 0x11, 0);
    struct model *sata = add(0, 31, 2, 0x010601);
    struct model *lpc = add(0, 31, 0, 0x060100);
    lpc->config[14] = 0x80;
    range(sata, 5, 0xfe801000, 12, false);
    sata->config[CAPABILITIES] = 0x80;
    capability(sata, 0x80, 0x05, 0);
    sata->config[0x82] = 0x80;
    struct model *tiny = add(0, 2, 0, 0x020000);
    range(tiny, 0, 0xfe802010, 4, false);
    set(tiny, BAR + 4, 0xc001);
    tiny->writable[1] = 0xffe0;
    enumerate();
    assert_int_equal(table.count, 3);
    assert_int_equal(table.refused, 0);

    const struct kymo_pci_function *f = listed(disk->address);
    assert_int_equal(f->bars[1].start, 0xfe800000);
    assert_int_equal(f->bars[4].start, 0x8000004000);
    assert_int_equal(f->bars[4].len, 0x4000);
    assert_int_equal(f->bars[5].len, 0);
    assert_int_equal(f->message, KYMO_PCI_MSIX);
    assert_int_equal(f->capability, 0x98);
    pci_line_enable(&host, &table, f->line);
    assert_int_equal(get(disk, COMMAND) & 0xffff, 0x406);
    assert_int_equal(get(disk, 0x98) >> 16, 0x8000);

    f = listed(sata->address);
    assert_int_equal(f->message, KYMO_PCI_MSI);
    assert_int_equal(get(sata, 0x84), MESSAGES);
    assert_int_equal(get(sata, 0x8c) & 0xffff, f->msi_data);
    assert_int_equal(get(sata, 0x80) >> 16 & 1, 0);
    pci_line_enable(&host, &table, f->line);
    assert_int_equal(get(sata, 0x80) >> 16 & 1, 1);
    const unsigned so_far = accesses;
    pci_line_enable(&host, &table, KYMO_PCI_NO_LINE);
    pci_line_enable(&host, &table, LINE_FIRST + 9);
    assert_int_equal(accesses, so_far);

    f = listed(tiny->address);
    assert_int_equal(f->line, KYMO_PCI_NO_LINE);
    assert_int_equal(f->bars[1].len, 0);
    assert_true(pci_has(&table, 0xfe802000, PAGE));
    assert_false(pci_has(&table, 0xfe802000, 2 * PAGE));
    assert_false(pci_has(&table, 0xfe802000, 0));
}

static void bridges_in_a_circle(void **state)
{
    (void)state;
    bridge_to(0, 1, 1);
    bridge_to(1, 1, 2);
    bridge_to(2, 1, 1);
    bridge_to(2, 2, 0);
    bridge_to(2, 3, 2);
    range(add(2, 4, 0, 0x010000), 0, 0xe0000000, 14, false);
    enumerate();
    assert_int_equal(table.count, 1);
    assert_int_equal(table.refused, 0); /* it came once */
}

/* Function by function: what a process must not get, or what no device has. */
static void ranges_that_are_refused(void **state)
{
    static const struct {
        uint64_t start;
        unsigned bits;
        bool wide;
    } bad[] = {
        {RAM_END - 0x1000, 12, false},     /* RAM */
        {RAM_END - (1u << 20), 22, false}, /* around its end, not aligned */
        {0xe0001000, 13, false},           /* not aligned */
        {FOUR_GB, 14, true},               /* RAM above 4 GB */
        {FOUR_GB - (1u << 31), 31, false}, /* around the chips */
        {0xfee00000, 12, false},           /* the local APIC */
        {0xfec00800, 5, false},            /* in the I/O APIC's page */
        {0, 12, false},                    /* nowhere yet */
        {0, 63, true},                     /* half of all there is */
        {1ull << 63, 63, true},            /* the other half */
        {1ull << 52, 12, true},            /* no physical address */
        {0xfffffffffffff000, 12, true},    /* up to the end */
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        begin(NULL);
        struct model *m = add(0, 3, 0, 0x010000);
        m->config[COMMAND] = 7;
        range(m, 0, 0xe0000000, 14, false);
        range(m, 2, bad[i].start, bad[i].bits, bad[i].wide);
        enumerate();
        assert_int_equal(table.count, 0);
        assert_int_equal(table.refused, 1);
    }
}

static void sizes_that_no_range_has(void **state)
{
    static const uint32_t writable[] = {0xfff0f000, 0x00000010, 0xf0000ff0, 0xfffef000, 0x80000010};

    (void)state;
    for (unsigned i = 0; i < sizeof(writable) / sizeof(writable[0]); i++) {
        begin(NULL);
        struct model *m = add(0, 3, 0, 0x010000);
        range(m, 0, 0xdd000000, 12, false); /* 0x11000 times something */
        m->writable[0] = writable[i];
        enumerate();
        assert_int_equal(table.count, 0);
    }
    /* 64 bits in the last register; a kind that there isn't. */
    for (unsigned i = 0; i < 2; i++) {
        begin(NULL);
        struct model *m = add(0, 3, 0, 0x010000);
        range(m, 5, 0xe0000000, 12, false);
        set(m, BAR + 20, 0xe0000000 | (i ? 6 : IS_64));
        enumerate();
        assert_int_equal(table.count, 0);
    }
}

static void ranges_that_overlap(void **state)
{
    (void)state;
    range(add(0, 3, 0, 0x010000), 0, 0xe0000000, 16, false);
    range(add(0, 4, 0, 0x010000), 0, 0xe0008000, 12, false); /* in the first */
    range(add(0, 5, 0, 0x010000), 0, 0xe0000000, 20, false); /* around it */
    struct model *m = add(0, 6, 0, 0x010000);                /* with itself */
    range(m, 0, 0xe0100000, 16, false);
    range(m, 1, 0xe0100000, 12, false);
    range(add(0, 7, 0, 0x010000), 0, 0xe0100000, 12, false); /* what that one didn't get */
    enumerate();
    assert_int_equal(table.count, 2);
    assert_int_equal(table.refused, 3);
    assert_true(listed(0x18) && listed(0x38));
}

static void capabilities_in_a_circle(void **state)
{
    (void)state;
    struct model *m = add(0, 3, 0, 0x010000);
    range(m, 0, 0xe0000000, 14, false);
    m->config[CAPABILITIES] = 0x40;
    capability(m, 0x40, 0x09, 0x50);
    capability(m, 0x50, 0x09, 0x40);
    struct model *out = add(0, 4, 0, 0x010000);
    range(out, 0, 0xe0010000, 14, false);
    out->config[CAPABILITIES] = 0xff;
    capability(out, 0xfc, 0x11, 0x04);
    struct model *self = add(0, 5, 0, 0x010000);
    range(self, 0, 0xe0020000, 14, false);
    self->config[CAPABILITIES] = 0xf4;
    capability(self, 0xf4, 0x05, 0xf4);
    struct model *off = add(0, 6, 0, 0x010000); /* the status says that it has none */
    range(off, 0, 0xe0030000, 14, false);
    off->config[CAPABILITIES] = 0x40;
    capability(off, 0x40, 0x11, 0);
    off->config[6] = 0;
    enumerate();
    assert_int_equal(table.count, 4);
    assert_int_equal(pci_messages(&table), 0);
}

static void more_than_there_is_room_for(void **state)
{
    (void)state;
    bridge_to(0, 31, 1);
    for (unsigned i = 0; i < 30 + 32 * 8; i++) {
        const unsigned at = i < 30 ? i : i - 30;
        struct model *m = i < 30 ? add(0, at, 0, 0x010000) : add(1, at / 8, at % 8, 0x010000);
        m->config[14] = i < 30 ? 0 : 0x80;
        range(m, 0, 0xc0000000 + 0x4000ull * i, 14, false);
        m->config[CAPABILITIES] = 0x40;
        capability(m, 0x40, 0x11, 0);
    }
    enumerate();
    assert_int_equal(table.count, KYMO_PCI_FUNCTIONS);
    assert_int_equal(table.omitted, 30 + 32 * 8 - KYMO_PCI_FUNCTIONS);
    assert_int_equal(pci_messages(&table), PCI_LINES);
}

static void no_machine(void **state)
{
    (void)state;
    enumerate();
    assert_int_equal(table.count, 0);
    assert_false(pci_has(&table, 0xe0000000, PAGE));
}

static uint64_t random_range(void)
{
    static const uint64_t places[] = {0,       RAM_END,      0xe0000000, CHIPS,
                                      FOUR_GB, HIGH_RAM_END, 1ull << 40};

    return places[(unsigned)rand() % 7] + ((uint64_t)rand() % 64 << (unsigned)rand() % 20) -
           ((uint64_t)rand() % 4 << 12);
}

static void random_function(unsigned bus, unsigned device)
{
    struct model *m = add(bus, device, 0, 0x010000);

    for (unsigned i = 4; i < 256; i++) {
        m->config[i] = (uint8_t)rand();
    }
    m->config[14] = (uint8_t)(rand() % 4 ? 0 : rand() % 2 ? 1 : rand());
    m->config[BUSES + 1] = (uint8_t)(m->config[14] == 1 ? rand() % 8 : rand());
    for (unsigned n = 0; n < 6 && rand() % 8; n++) {
        const bool wide = n < 5 && rand() % 2;
        range(m, n, random_range() & ~15ull, 4 + (unsigned)rand() % 60, wide);
        n += wide;
    }
}

static void random_machines(void **state)
{
    const char *given = getenv("KYMO_SEED");
    const unsigned seed = given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)time(NULL);
    unsigned taken = 0;

    (void)state;
    printf("KYMO_SEED=%u\n", seed);
    fflush(stdout);
    srand(seed);
    for (unsigned i = 0; i < ROUNDS; i++) {
        begin(NULL);
        for (unsigned k = 0; k < 40; k++) {
            const unsigned bus = (unsigned)rand() % 8, device = (unsigned)rand() % 32;
            if (!model_at((uint16_t)(bus << 8 | device << 3))) {
                random_function(bus, device);
            }
        }
        enumerate();
        taken += table.count;
    }
    assert_true(taken > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_sound_machine, begin),
        cmocka_unit_test_setup(bridges_in_a_circle, begin),
        cmocka_unit_test_setup(ranges_that_are_refused, begin),
        cmocka_unit_test_setup(sizes_that_no_range_has, begin),
        cmocka_unit_test_setup(ranges_that_overlap, begin),
        cmocka_unit_test_setup(capabilities_in_a_circle, begin),
        cmocka_unit_test_setup(more_than_there_is_room_for, begin),
        cmocka_unit_test_setup(no_machine, begin),
        cmocka_unit_test_setup(random_machines, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
