/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * apps/diskd/ahci.c against a model of an AHCI controller and SATA disks: errors at any request,
 * with a disk that stays busy, a port that does not stop, a link that does not come back, a disk
 * that is pulled or says nothing. What was flushed is on the medium; what was read is what the disk
 * has; after an error the next request works, or the disk is given up and the controller no longer
 * touches the driver's memory. The model fetches commands as the specification has them, from
 * memory that is the driver's, and only while the port runs. Built with ASan and UBSan. SEED=<n>
 * repeats a run.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "apps/diskd/ahci.c"
#include "test/apps/diskd/time.h"
#include "test/tool/random.h"

#define SECTORS 4096u
#define ROUNDS 20000
#define PORTS_HERE 6u
#define PHYS 0x12345000ull
#define LINE 129

enum fault {
    FAULT_NONE,
    FAULT_TASK,  /* the disk reports an error, after some of the data */
    FAULT_LINK,  /* the link fails amid the data, and the disk stays busy */
    FAULT_EARLY, /* the error is there before anybody waits */
    FAULTS,
    FAULT_SILENT,
    FAULT_PULLED,
    FAULT_SWAPPED, /* pulled, and another one put in */
    FAULT_STUCK,   /* an error, and the port does not stop */
    FAULT_NO_LINK, /* the link fails and does not come back */
    FAULTS_ALL,
};

static struct {
    uint32_t registers[0x1000 / 4];
    uint8_t memory[DATA + BUFFER_BYTES];
    unsigned disk;                          /* its port */
    uint8_t cache[SECTORS][DISKMSG_SECTOR]; /* what the disk has */
    uint8_t medium[SECTORS][DISKMSG_SECTOR];
    uint16_t identity[256];
    enum fault fault; /* of the next command that moves data, or flushes */
    bool dead;        /* nothing happens any more */
    bool link_lost;
    bool chatters; /* sends messages, whatever happens */
    unsigned messages;
} model;
#define M model
#define P(at) M.registers[PORT(M.disk) + (at)]

static struct kymo_pci_function function;
static unsigned waits, attached, interrupts_open;

/* ---- the model ----------------------------------------------------------------------- */

static void raised(uint32_t bits)
{
    P(PORT_INTERRUPT) |= bits;
    if (P(PORT_INTERRUPT) & P(PORT_ENABLE)) {
        M.registers[INTERRUPT] |= 1u << M.disk;
    }
}

static uint32_t word_at(uint64_t phys)
{
    uint32_t value;

    assert_true(phys >= PHYS && phys - PHYS <= sizeof(M.memory) - 4);
    memcpy(&value, M.memory + (phys - PHYS), 4);
    return value;
}

static uint64_t address_of(uint64_t phys)
{
    return word_at(phys) | (uint64_t)word_at(phys + 4) << 32;
}

/* The part of the command's data, of so many bytes. */
static uint8_t *data_of(uint64_t table, uint32_t header, uint32_t bytes)
{
    assert_int_equal(header >> 16, bytes > 0);
    if (bytes == 0) {
        return NULL;
    }
    const uint64_t data = address_of(table + 0x80);
    assert_int_equal(word_at(table + 0x8c), bytes - 1);
    assert_true(data % 2 == 0 && data >= PHYS + DATA);
    assert_true(bytes <= sizeof(M.memory) - (data - PHYS));
    return M.memory + (data - PHYS);
}

static void move(bool writes, uint64_t sector, uint8_t *data, uint32_t bytes)
{
    if (writes) {
        memcpy(M.cache[sector], data, bytes);
    } else {
        memcpy(data, M.cache[sector], bytes);
    }
}

/* Does the command in slot 0, or as much of it as the fault lets. */
static void execute(void)
{
    const uint64_t list = P(PORT_LIST) | (uint64_t)P(PORT_LIST + 1) << 32;
    const uint64_t received = P(PORT_RECEIVED) | (uint64_t)P(PORT_RECEIVED + 1) << 32;
    const uint32_t header = word_at(list);
    const uint64_t table = address_of(list + 8);

    assert_true(list % 1024 == 0 && received % 256 == 0 && table % 128 == 0);
    (void)word_at(received + 252);
    assert_int_equal(header & 0x1f, 5);
    const uint32_t first = word_at(table), low = word_at(table + 4), high = word_at(table + 8);
    const uint32_t sectors = word_at(table + 12) & 0xffff;
    assert_int_equal(first & 0xffff, 0x8027);
    const uint8_t what = (uint8_t)(first >> 16);
    const uint64_t sector = (low & 0xffffff) | (uint64_t)(high & 0xffffff) << 24;
    const bool writes = what == 0x35, moves = what == 0x25 || writes;
    assert_int_equal((header & 0x40) != 0, writes);
    uint32_t bytes = moves ? sectors * 512 : what == 0xec ? 512 : 0;
    uint8_t *data = data_of(table, header, bytes);
    enum fault fault = M.fault;

    M.fault = FAULT_NONE;
    assert_true(!moves || (sector + sectors <= SECTORS && sectors > 0 && (low & 0x40000000)));
    if (fault != FAULT_NONE) {
        bytes = moves ? random_below(sectors) * 512 : bytes;
    }
    if (moves) {
        move(writes, sector, data, bytes);
    } else if (what == 0xec) {
        memcpy(data, M.identity, 512);
    } else if (fault == FAULT_NONE) {
        assert_int_equal(what, 0xea);
        memcpy(M.medium, M.cache, sizeof(M.medium));
    }
    if (fault == FAULT_NONE) {
        P(PORT_ISSUE) = 0;
        P(PORT_TASK) = 0x50;
        raised(what == 0xec ? 2 : 1);
    } else if (fault == FAULT_TASK || fault == FAULT_EARLY || fault == FAULT_STUCK) {
        P(PORT_TASK) = 0x51;
        raised(0x40000001);
        M.dead = fault == FAULT_STUCK;
    } else if (fault == FAULT_LINK || fault == FAULT_NO_LINK) {
        P(PORT_TASK) = 0xd0;
        P(PORT_ERROR) |= 0x400;
        raised(0x08000000);
        M.link_lost = fault == FAULT_NO_LINK;
    } else if (fault == FAULT_PULLED || fault == FAULT_SWAPPED) {
        P(PORT_STATUS) = fault == FAULT_PULLED ? 0 : 0x113;
        P(PORT_ERROR) |= 0x04010000;
        raised(0x40);
    }
}

static void run(void)
{
    const uint32_t on = COMMAND_RUNNING | COMMAND_RECEIVING;

    if (P(PORT_ISSUE) && (P(PORT_COMMAND) & on) == on && !(P(PORT_TASK) & 0x88) && !M.dead) {
        if (M.fault == FAULT_SILENT) {
            M.dead = true;
        } else {
            execute();
        }
    }
}

static void command_put(uint32_t *command, uint32_t *issue, uint32_t value)
{
    *command = (value & ~(COMMAND_RUNNING | COMMAND_RECEIVING)) |
               (*command & (COMMAND_RUNNING | COMMAND_RECEIVING));
    if (M.dead) {
        return;
    }
    if (value & COMMAND_START) {
        assert_true(value & COMMAND_RECEIVE);
        *command |= COMMAND_RUNNING;
    } else {
        *command &= ~COMMAND_RUNNING;
        *issue = 0;
    }
    assert_true((value & COMMAND_RECEIVE) || !(*command & COMMAND_RUNNING));
    *command =
        value & COMMAND_RECEIVE ? *command | COMMAND_RECEIVING : *command & ~COMMAND_RECEIVING;
}

static void link_put(uint32_t value)
{
    assert_false(P(PORT_COMMAND) & COMMAND_RUNNING);
    if (value & 15) {
        P(PORT_STATUS) = 0;
    } else if (!M.link_lost) {
        P(PORT_STATUS) = 0x113;
        P(PORT_TASK) = 0x50;
    }
    P(PORT_ERROR) |= 0x04010000;
    P(PORT_INTERRUPT) |= 0x00400000;
}

void registers_at(uintptr_t address)
{
    assert_int_equal(address, (uintptr_t)M.registers);
}

uint32_t register_get(unsigned word)
{
    assert_true(word < sizeof(M.registers) / 4);
    return M.registers[word];
}

void register_put(unsigned word, uint32_t value)
{
    const unsigned at = word < PORT(0) ? 0 : (word - PORT(0)) % (PORT_BYTES / 4);
    uint32_t *registers = &M.registers[word - at];

    assert_true(word < sizeof(M.registers) / 4);
    if (word == INTERRUPT || (word >= PORT(0) && at == PORT_ERROR)) {
        M.registers[word] &= ~value;
    } else if (word >= PORT(0) && at == PORT_INTERRUPT) {
        registers[at] &= ~value;
        registers[at] |=
            registers[PORT_ERROR] & 0x04000000 ? 0x40 : 0; /* as long as that is there */
    } else if (word >= PORT(0) && at == PORT_COMMAND) {
        command_put(&registers[at], &registers[PORT_ISSUE], value);
    } else if (word >= PORT(0) && at == PORT_CONTROL) {
        link_put(value);
    } else if (word >= PORT(0) && at == PORT_ISSUE) {
        assert_true(registers[PORT_COMMAND] & COMMAND_START && interrupts_open);
        registers[at] |= value;
        if (M.fault == FAULT_EARLY || random_below(2)) {
            run();
        }
    } else {
        M.registers[word] = value;
    }
}

/* ---- what the driver has of the system ------------------------------------------------- */

const struct kymo_pci_function *pci_functions(unsigned *count)
{
    *count = 1;
    return &function;
}

volatile void *pci_map(const struct kymo_pci_function *f, unsigned bar, uint64_t offset,
                       size_t bytes)
{
    assert_true(f == &function && bar == 5 && offset == 0 && bytes <= f->bars[5].len);
    return M.registers;
}

int pci_messages_begin(const struct kymo_pci_function *f)
{
    return f->line == LINE ? 0 : ENODEV;
}

int MemMap(struct kymo_map *map)
{
    assert_true(map->len <= sizeof(M.memory));
    map->vaddr = (uintptr_t)M.memory;
    map->phys = PHYS;
    return 0;
}

int InterruptAttachEvent(int line, const struct sigevent *event, unsigned flags)
{
    assert_true(line == LINE && event->sigev_notify == SIGEV_INTR && flags == 0);
    attached++;
    interrupts_open = 1;
    return 7;
}

int InterruptDetach(int id)
{
    assert_int_equal(id, 7);
    attached--;
    interrupts_open = 0;
    return 0;
}

/* The message was sent if the controller's register says so, or is sent now. */
int InterruptWait(int flags, const uint64_t *timeout)
{
    (void)flags;
    (void)timeout;
    if (!(M.registers[INTERRUPT] >> M.disk & 1)) {
        run();
    }
    if ((M.registers[INTERRUPT] >> M.disk & 1) && (M.registers[CONTROL] & CONTROL_INTERRUPTS)) {
        return 0;
    }
    if (M.chatters) {
        assert_true(++M.messages < 1000);
        return 0;
    }
    waits++;
    errno = ETIMEDOUT;
    return -1;
}

int InterruptUnmask(int line, int id)
{
    assert_true(line == LINE && id == 7);
    return 0;
}

/* ---- tests ----------------------------------------------------------------------------- */

/* As the firmware may have left it: at work. */
static void machine_make(unsigned disk)
{
    memset(&M, 0, sizeof(M));
    attached = waits = 0;
    function = (struct kymo_pci_function){.line = LINE};
    function.config[9] = 1;
    function.config[10] = 6;
    function.config[11] = 1;
    function.bars[5] = (struct kymo_pci_bar){0xfe000000, 0x1000};
    M.disk = disk;
    M.registers[CAP] = CAP_64;
    M.registers[IMPLEMENTED] = (1u << PORTS_HERE) - 1;
    M.registers[PORT(5) + PORT_SIGNATURE] = 0xeb140101; /* a drive for discs */
    M.registers[PORT(5) + PORT_STATUS] = 0x113;
    P(PORT_SIGNATURE) = SIGNATURE_DISK;
    P(PORT_STATUS) = 0x113;
    P(PORT_TASK) = 0x50;
    P(PORT_COMMAND) = COMMAND_START | COMMAND_RECEIVE | COMMAND_RUNNING | COMMAND_RECEIVING;
    P(PORT_LIST) = 0xdead0000;
    M.identity[IDENTITY_FEATURES] = 0x4000 | FEATURE_48_BITS;
    M.identity[IDENTITY_SECTORS] = SECTORS;
    for (unsigned i = 1; i < SECTORS; i++) { /* the first one has no table */
        memset(M.cache[i], (int)i, DISKMSG_SECTOR);
    }
    disk_ahci.wait_ns = 20000000u;
}

static void opened(unsigned disk)
{
    struct diskmsg_info info;

    machine_make(disk);
    assert_int_equal(disk_ahci.open(&info), 0);
    assert_int_equal(info.sectors, SECTORS);
    assert_int_equal(info.physical_bytes, 512);
    assert_int_equal(attached, 1);
    assert_ptr_equal(disk_ahci.buffer, M.memory + DATA);
}

/* Returns what the request is answered with. */
static int request(enum fault fault)
{
    uint32_t sectors = 1 + random_below(DISKMSG_SECTORS_MOST);
    uint32_t first = random_below(SECTORS - sectors + 1);
    const unsigned kind = random_below(3);
    uint32_t *buffer = disk_ahci.buffer;
    const size_t bytes = (size_t)sectors * DISKMSG_SECTOR;
    int error;

    first = random_below(8) == 0 ? SECTORS - sectors : first; /* to the disk's end */
    M.fault = fault;
    for (unsigned i = 0; i < bytes / 4; i++) {
        buffer[i] = random_below(UINT32_MAX);
    }
    if (kind == 2) {
        error = disk_ahci.flush();
        assert_true(error || memcmp(M.medium, M.cache, sizeof(M.medium)) == 0);
        return error;
    }
    error = kind ? disk_ahci.write(first, sectors) : disk_ahci.read(first, sectors);
    if (error == 0) {
        assert_memory_equal(buffer, M.cache[first], bytes);
    }
    return error;
}

static void test_errors_anywhere(void **state)
{
    (void)state;
    opened(3);
    for (unsigned i = 0; i < ROUNDS; i++) {
        enum fault fault = random_below(2) ? FAULT_NONE : (enum fault)random_below(FAULTS);

        assert_int_equal(request(fault), fault == FAULT_NONE ? 0 : EIO);
        assert_true(P(PORT_COMMAND) & COMMAND_RUNNING);
    }
    assert_int_equal(waits, 0);
}

/* It is given up for good, and what can be stopped is. */
static void test_gone(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 50 * (FAULTS_ALL - FAULT_SILENT); i++) {
        const enum fault fault = FAULT_SILENT + i % (FAULTS_ALL - FAULT_SILENT);

        opened(i % PORTS_HERE);
        assert_int_equal(request(fault), ENODEV);
        assert_int_equal(waits, fault == FAULT_SILENT);
        assert_int_equal(P(PORT_ENABLE), 0);
        assert_true(M.dead || !(P(PORT_COMMAND) & (COMMAND_RUNNING | COMMAND_RECEIVING)));
        assert_false(P(PORT_COMMAND) & COMMAND_START);
        for (unsigned n = 0; n < 8; n++) {
            assert_int_equal(request(FAULT_NONE), ENODEV);
        }
        assert_int_equal(waits, fault == FAULT_SILENT);
        assert_int_equal(P(PORT_ISSUE) && !M.dead, 0);
    }
}

/* Messages without an answer are not waited for longer than silence. */
static void test_chatter(void **state)
{
    (void)state;
    opened(1);
    M.chatters = true;
    assert_int_equal(request(FAULT_SILENT), ENODEV);
    assert_in_range(M.messages, 10, 30); /* one in each of the 20 ms */
    assert_int_equal(request(FAULT_NONE), ENODEV);
}

static void expect_open(int error)
{
    struct diskmsg_info info;

    assert_int_equal(disk_ahci.open(&info), error);
    assert_int_equal(attached, error == 0);
    assert_true(error == 0 || !(M.registers[CONTROL] & CONTROL_INTERRUPTS));
}

static void test_disks_that_are_not_used(void **state)
{
    (void)state;
    machine_make(2);
    M.identity[IDENTITY_FEATURES] = 0x4000;
    expect_open(ENODEV);
    machine_make(2);
    M.identity[IDENTITY_FEATURES] = 0xffff; /* all ones: it says nothing */
    expect_open(ENODEV);
    machine_make(2);
    M.identity[IDENTITY_SECTOR] = 0x4000 | SECTOR_LARGER;
    expect_open(ENODEV);
    machine_make(2);
    M.identity[IDENTITY_SECTORS] = 0;
    expect_open(ENODEV);
    machine_make(2);
    P(PORT_STATUS) = 0;
    expect_open(ENODEV);
    machine_make(2);
    P(PORT_TASK) = 0x80; /* busy for ever */
    expect_open(ENODEV);
    machine_make(2);
    M.cache[0][510] = 0x55;
    M.cache[0][511] = 0xaa;
    expect_open(ENOENT);
    M.cache[0][446 + 4] = PARTITION_TRACE;
    M.cache[0][446 + 8] = 100;
    M.cache[0][446 + 12] = 50;
    expect_open(0);
}

/* Sectors count from the partition on. */
static void test_partition(void **state)
{
    struct diskmsg_info info;

    (void)state;
    machine_make(0);
    M.identity[IDENTITY_SECTOR] = 0x4000 | SECTOR_SEVERAL | 3;
    M.cache[0][510] = 0x55;
    M.cache[0][511] = 0xaa;
    M.cache[0][446 + 4] = PARTITION_TRACE;
    M.cache[0][446 + 8] = 100;
    M.cache[0][446 + 12] = 50;
    assert_int_equal(disk_ahci.open(&info), 0);
    assert_int_equal(info.sectors, 50);
    assert_int_equal(info.physical_bytes, 4096);
    assert_int_equal(disk_ahci.read(7, 2), 0);
    assert_memory_equal(disk_ahci.buffer, M.cache[107], 1024);
}

/* A controller with less memory than 32 ports need, whatever it says about its ports; or none. */
static void test_room(void **state)
{
    static const uint64_t lens[] = {0, 0x80, 0x100, 0x180, 0x400, 0x1000};

    (void)state;
    for (unsigned i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
        machine_make(0);
        M.registers[IMPLEMENTED] = UINT32_MAX;
        function.bars[5].len = lens[i];
        expect_open(lens[i] < 0x180 ? ENODEV : 0);
    }
    machine_make(0);
    function.line = KYMO_PCI_NO_LINE;
    expect_open(ENODEV);
    machine_make(0);
    function.config[10] = 1; /* not SATA */
    expect_open(ENODEV);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors_anywhere), cmocka_unit_test(test_gone),
        cmocka_unit_test(test_chatter),         cmocka_unit_test(test_disks_that_are_not_used),
        cmocka_unit_test(test_partition),       cmocka_unit_test(test_room),
    };

    random_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
