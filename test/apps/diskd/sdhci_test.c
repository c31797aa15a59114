/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * apps/diskd/sdhci.c against a model of a host controller and an SD card, with errors at every
 * point of a transfer. What was acknowledged the card has; what was read is what the card has;
 * after an error the next request works. And csd.h against sizes that are put together field by
 * field.
 *
 * The model knows what the driver uses: the states of the SD Physical Layer Specification, 4.3, and
 * errors that a card keeps until it has told them. Built with ASan and UBSan. SEED=<n> repeats a
 * run.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "apps/diskd/sdhci.c"
#include "test/apps/diskd/time.h"
#include "test/tool/random.h"

#define SECTORS 4096u /* of the model's card; 2 MB, of low capacity or high */
#define ROUNDS 20000
#define MOST 16u /* sectors of a request */

enum state { IDLE, READY, IDENT, STANDBY, TRAN, SENDING, RECEIVING };
#define WRITE_PROTECTED 0x04000000u
#define OUT_OF_RANGE 0x80000000u
#define ILLEGAL 0x00400000u
#define INT_ERROR 0x8000u
#define COMMAND_LATE (INT_ERROR | 0x10000u)
#define COMMAND_CHECKSUM (INT_ERROR | 0x20000u)
#define DATA_CHECKSUM (INT_ERROR | 0x200000u)

enum fault {
    FAULT_NONE,
    FAULT_DATA,     /* a block's checksum is wrong, on the line */
    FAULT_REFUSED,  /* the card does not write a block and those after it */
    FAULT_RESPONSE, /* the card does what it is told, its response is damaged */
    FAULT_MISSED,   /* the card does not hear the command */
    FAULTS,
    FAULT_SILENT /* no interrupt comes any more */
};

static struct {
    uint32_t registers[64];
    enum state state;
    bool application, high;
    uint32_t errors;      /* that it has not told yet */
    uint64_t at;          /* the next sector of a transfer */
    uint32_t left, moved; /* blocks */
    unsigned word;        /* of the block */
    bool refuses;
    uint32_t block[DISKMSG_SECTOR / 4];
    uint8_t sectors[SECTORS][DISKMSG_SECTOR];
    enum fault fault;     /* of the next transfer */
    uint32_t fault_after; /* blocks */
} card_model;
#define M card_model

/* ---- the model --------------------------------------------------------------------------- */

static void raised(uint32_t bits)
{
    M.registers[INTERRUPT] |= bits;
}

/* The card's status, and the errors that were to be told. */
static uint32_t status_told(void)
{
    uint32_t status = M.errors | (uint32_t)M.state << 9 | (M.state == TRAN ? R1_READY_FOR_DATA : 0);

    M.errors = 0;
    return status;
}

static void transfer_begins(enum state state, uint32_t argument)
{
    M.state = state;
    M.at = M.high ? argument : argument / DISKMSG_SECTOR;
    M.left = M.registers[BLOCKS] >> 16;
    M.word = M.moved = 0;
    M.refuses = false;
}

/* A block is ready to be moved, or the transfer is over and the controller has ended it. */
static void block_next(void)
{
    bool sends = M.state == SENDING;

    if (M.fault == FAULT_DATA && M.fault_after == M.moved) {
        M.fault = FAULT_NONE;
        raised(DATA_CHECKSUM);
        return; /* nobody tells the card */
    }
    if (M.left == 0) {
        M.errors |= sends && M.at == SECTORS ? OUT_OF_RANGE : 0;
        M.registers[RESPONSE + 3] = status_told();
        M.state = TRAN;
        raised(INT_TRANSFER);
        return;
    }
    M.word = 0;
    if (sends) {
        memcpy(M.block, M.sectors[M.at], sizeof(M.block));
    }
    raised(sends ? INT_READ_READY : INT_WRITE_READY);
}

/* Returns false if the card does not answer. */
static bool command_known(unsigned number, uint32_t argument)
{
    bool application = M.application;

    M.application = number == 55;
    if (number == 0 || number == 8 || number == 55 || (application && number == 6)) {
        M.state = number == 0 ? IDLE : M.state;
        M.registers[RESPONSE] = number == 8 ? argument : status_told();
        return true;
    }
    switch (number) {
    case 41:
        M.state = READY;
        M.registers[RESPONSE] =
            OP_COND_READY | OP_COND_3V3 | (M.high ? argument & OP_COND_HIGH_CAPACITY : 0);
        return application;
    case 2:
        M.state = IDENT;
        return true;
    case 3:
        M.state = STANDBY;
        M.registers[RESPONSE] = 0x12340000u;
        return true;
    case 9: /* version 2: 1024 sectors a unit */
        memset(&M.registers[RESPONSE], 0, 4 * sizeof(uint32_t));
        M.registers[RESPONSE + 3] = 1u << 22;
        M.registers[RESPONSE + 1] = (SECTORS / 1024 - 1) << 8;
        return M.state == STANDBY;
    case 12:
        if (M.state != SENDING && M.state != RECEIVING) {
            M.errors |= ILLEGAL;
            return false;
        }
        M.registers[RESPONSE] = status_told();
        M.state = TRAN;
        return true;
    case 13:
        M.registers[RESPONSE] = status_told();
        return true;
    default:
        break;
    }
    if (number == 7) {
        M.state = TRAN;
    } else if (M.state != TRAN) {
        M.errors |= ILLEGAL;
        return false;
    }
    M.registers[RESPONSE] = status_told();
    return true;
}

static void command_got(uint32_t what)
{
    unsigned number = what >> 24;
    bool moves = number == 18 || number == 25;
    enum fault fault = moves ? M.fault : FAULT_NONE;
    bool able = M.state == TRAN;

    M.fault = fault == FAULT_RESPONSE || fault == FAULT_MISSED ? FAULT_NONE : M.fault;
    if (fault == FAULT_MISSED || !command_known(number, M.registers[ARGUMENT])) {
        raised(COMMAND_LATE);
        return;
    }
    if (moves && able) {
        transfer_begins(number == 18 ? SENDING : RECEIVING, M.registers[ARGUMENT]);
    }
    if (fault == FAULT_RESPONSE) {
        raised(COMMAND_CHECKSUM);
        return;
    }
    if (M.fault == FAULT_SILENT) {
        return;
    }
    raised(INT_COMMAND);
    if (moves) {
        block_next();
    }
}

static void block_got(void)
{
    if (M.state == RECEIVING) {
        if (M.fault == FAULT_REFUSED && M.fault_after == M.moved) {
            M.fault = FAULT_NONE;
            M.refuses = true;
            M.errors |= WRITE_PROTECTED;
        }
        if (!M.refuses) {
            memcpy(M.sectors[M.at], M.block, sizeof(M.block));
        }
    }
    M.at++;
    M.left--;
    M.moved++;
    block_next();
}

void registers_at(uintptr_t address)
{
    (void)address;
}

uint32_t register_get(unsigned word)
{
    if (word == DATA) {
        uint32_t value = M.block[M.word++];
        if (M.word == DISKMSG_SECTOR / 4) {
            block_got();
        }
        return value;
    }
    return M.registers[word];
}

void register_put(unsigned word, uint32_t value)
{
    if (word == INTERRUPT) {
        M.registers[INTERRUPT] &= ~value;
        return;
    }
    if (word == DATA) {
        M.block[M.word++] = value;
        if (M.word == DISKMSG_SECTOR / 4) {
            block_got();
        }
        return;
    }
    if (word == CONTROL1) {
        value &= ~(CONTROL1_RESET_ALL | CONTROL1_RESET_LINES);
        value |= CONTROL1_CLOCK_STABLE;
    }
    M.registers[word] = value;
    if (word == COMMAND) {
        command_got(value);
    }
}

/* ---- what the driver has of the system --------------------------------------------------- */

static unsigned waits, interrupts;
static bool chatters; /* interrupts come, whatever happens */

int MemMap(struct kymo_map *map)
{
    map->vaddr = 0;
    return 0;
}

int InterruptAttachEvent(int line, const struct sigevent *event, unsigned flags)
{
    (void)line;
    (void)event;
    (void)flags;
    return 1;
}

int InterruptWait(int flags, const uint64_t *timeout)
{
    (void)flags;
    (void)timeout;
    if (chatters) {
        assert_true(++interrupts < 1000);
        return 0;
    }
    waits++;
    errno = ETIMEDOUT; /* the model has done at once all that it will do */
    return -1;
}

int InterruptUnmask(int line, int id)
{
    (void)line;
    (void)id;
    return 0;
}

/* ---- tests ------------------------------------------------------------------------------- */

static void card_put_in(bool high)
{
    struct diskmsg_info info;

    memset(&M, 0, sizeof(M));
    M.high = high;
    sdhci_card_gone = high_capacity = false;
    disk_sdhci.wait_ns = 20000000u;
    for (unsigned i = 1; i < SECTORS; i++) { /* the first one has no table */
        memset(M.sectors[i], (int)i, DISKMSG_SECTOR);
    }
    assert_int_equal(disk_sdhci.open(&info), 0);
    assert_int_equal(info.sectors, SECTORS);
    assert_int_equal(high_capacity, high);
}

static void request(enum fault fault)
{
    uint32_t sectors = 1 + random_below(MOST), first = random_below(SECTORS - sectors + 1);
    bool write = random_below(2);
    int error;

    first = random_below(8) == 0 ? SECTORS - sectors : first; /* to the card's end */
    M.fault = fault == FAULT_REFUSED && !write ? FAULT_NONE : fault;
    M.fault_after = random_below(sectors);
    fault = M.fault;
    for (unsigned i = 0; write && i < sectors * DISKMSG_SECTOR / 4; i++) {
        sdhci_buffer[i] = random_below(UINT32_MAX);
    }
    error = write ? disk_sdhci.write(first, sectors) : disk_sdhci.read(first, sectors);
    assert_int_equal(error, fault == FAULT_NONE ? 0 : EIO);
    if (error == 0) {
        assert_memory_equal(sdhci_buffer, M.sectors[first], (size_t)sectors * DISKMSG_SECTOR);
    }
    assert_int_equal(M.state, TRAN);
    assert_int_equal(disk_sdhci.flush(), 0);
}

static void test_errors_anywhere(void **state)
{
    (void)state;
    for (unsigned high = 0; high < 2; high++) {
        card_put_in(high);
        for (unsigned i = 0; i < ROUNDS; i++) {
            request(random_below(2) ? FAULT_NONE : (enum fault)random_below(FAULTS));
        }
    }
    assert_int_equal(waits, 0);
}

/* A controller that says nothing is waited for once, and never asked again. */
static void test_gone(void **state)
{
    (void)state;
    card_put_in(true);
    waits = 0;
    M.fault = FAULT_SILENT;
    assert_int_equal(disk_sdhci.read(0, 1), ENODEV);
    assert_int_equal(waits, 1);
    assert_int_equal(disk_sdhci.read(0, 1), ENODEV);
    assert_int_equal(disk_sdhci.write(0, 1), ENODEV);
    assert_int_equal(disk_sdhci.flush(), ENODEV);
    assert_int_equal(waits, 1);
}

/* Interrupts without an answer are not waited for longer than silence. */
static void test_chatter(void **state)
{
    (void)state;
    card_put_in(true);
    M.fault = FAULT_SILENT;
    chatters = true;
    assert_int_equal(disk_sdhci.read(0, 1), ENODEV);
    chatters = false;
    assert_in_range(interrupts, 10, 30); /* one in each of the 20 ms */
    assert_int_equal(disk_sdhci.flush(), ENODEV);
}

static void bits_put(uint32_t word[4], unsigned low, unsigned n, uint64_t value)
{
    for (unsigned i = 0; i < n; i++) {
        unsigned at = low + i - 8;
        word[at / 32] &= ~(1u << at % 32);
        word[at / 32] |= (uint32_t)(value >> i & 1) << at % 32;
    }
}

/* Whatever the other fields are, and as the specification's formulas have it. */
static void test_sizes(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ROUNDS; i++) {
        uint32_t word[4];
        uint32_t c_size = random_below(4096), mult = random_below(8), len = 9 + random_below(3);

        for (unsigned w = 0; w < 4; w++) {
            word[w] = random_below(UINT32_MAX);
        }
        bits_put(word, 126, 2, 0);
        bits_put(word, 62, 12, c_size);
        bits_put(word, 47, 3, mult);
        bits_put(word, 80, 4, len);
        uint64_t bytes = (uint64_t)(c_size + 1) * (1u << (mult + 2)) * (1u << len);
        assert_int_equal(csd_sectors(word), bytes / 512);
        bits_put(word, 126, 2, 1);
        c_size = random_below(1u << 22);
        bits_put(word, 48, 22, c_size);
        assert_int_equal(csd_sectors(word), (uint64_t)(c_size + 1) * 1024);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors_anywhere),
        cmocka_unit_test(test_gone),
        cmocka_unit_test(test_chatter),
        cmocka_unit_test(test_sizes),
    };

    random_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
