/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An SD card on a standard host controller (SD Host Controller Specification 3.0; Raspberry Pi: the
 * EMMC block). board.mk has its location: SDHCI_BASE, SDHCI_IRQ, and SDHCI_HZ, the maximum of the
 * controller's base clock. The CPU moves the data. Registers are written as words, as the BCM2835
 * requires. SD Physical Layer Specification 3.0 has the commands; a card of any size, but no MMC.
 *
 * A write is answered when the card has programmed it, so there is no cache to flush. The card
 * reports errors in the answer to the command that ends the transfer, which the controller sends by
 * itself. After an error the driver ends the transfer, so that the next request finds a card that
 * accepts commands. A card that does not answer in time is given up permanently.
 *
 * Tested by test/apps/diskd/sdhci_test.c, against a model of controller and card with errors at
 * every point, and test/board/card.py, against QEMU's.
 */
#include <errno.h>
#include <stdbool.h>

#include "apps/diskd/csd.h"
#include "apps/diskd/disk.h"
#include "apps/diskd/partition.h"
#include "apps/diskd/wait.h"
#include "abi/sys/kymo.h"
#include "abi/sys/neutrino.h"
#include "lib/include/unistd.h"

#ifndef DISK_REGISTERS_H
#define DISK_REGISTERS_H "apps/diskd/registers.h"
#endif
#include DISK_REGISTERS_H

#define REGISTERS_BYTES 0x1000u

/* word offsets */
enum {
    BLOCKS = 0x04 / 4, /* size of a block, count << 16 */
    ARGUMENT = 0x08 / 4,
    COMMAND = 0x0c / 4,
    RESPONSE = 0x10 / 4, /* four words */
    DATA = 0x20 / 4,
    PRESENT = 0x24 / 4,
    CONTROL0 = 0x28 / 4,
    CONTROL1 = 0x2c / 4,
    INTERRUPT = 0x30 / 4,
    STATUS_ENABLE = 0x34 / 4,
    SIGNAL_ENABLE = 0x38 / 4,
};

#define PRESENT_COMMAND_BUSY 0x1u
#define PRESENT_DATA_BUSY 0x2u
#define CONTROL0_4_BITS 0x002u
#define CONTROL0_POWER_3V3 0xf00u
#define CONTROL1_CLOCK_INTERNAL 0x1u
#define CONTROL1_CLOCK_STABLE 0x2u
#define CONTROL1_CLOCK_CARD 0x4u
#define CONTROL1_TIMEOUT_LONGEST 0xe0000u
#define CONTROL1_RESET_ALL 0x1000000u
#define CONTROL1_RESET_LINES 0x6000000u
#define INT_COMMAND 0x01u
#define INT_TRANSFER 0x02u
#define INT_WRITE_READY 0x10u
#define INT_READ_READY 0x20u
#define INT_ERRORS 0xffff8000u

/* Bits of COMMAND */
#define NUMBER(n) ((uint32_t)(n) << 24)
#define RESPONSE_136 0x010000u
#define RESPONSE_48 0x020000u
#define RESPONSE_48_BUSY 0x030000u
#define CHECKED 0x180000u /* checksum and number in the response */
#define WITH_DATA 0x200000u
#define ABORT 0xc00000u /* during another command's data */
#define BLOCK_COUNTED 0x02u
#define THEN_STOP 0x04u
#define TO_HOST 0x10u
#define MANY_BLOCKS 0x20u
#define R1 (RESPONSE_48 | CHECKED)
#define MANY (WITH_DATA | MANY_BLOCKS | BLOCK_COUNTED | THEN_STOP)

#define GO_IDLE NUMBER(0)
#define ALL_SEND_CID (NUMBER(2) | RESPONSE_136)
#define SEND_RELATIVE_ADDRESS (NUMBER(3) | R1)
#define SET_BUS_WIDTH (NUMBER(6) | R1) /* of an application */
#define SELECT_CARD (NUMBER(7) | RESPONSE_48_BUSY | CHECKED)
#define SEND_IF_COND (NUMBER(8) | R1)
#define SEND_CSD (NUMBER(9) | RESPONSE_136)
#define STOP_TRANSMISSION (NUMBER(12) | RESPONSE_48_BUSY | CHECKED | ABORT)
#define SEND_STATUS (NUMBER(13) | R1)
#define SET_BLOCKLEN (NUMBER(16) | R1)
#define READ_BLOCKS (NUMBER(18) | R1 | MANY | TO_HOST)
#define WRITE_BLOCKS (NUMBER(25) | R1 | MANY)
#define SEND_OP_COND (NUMBER(41) | RESPONSE_48) /* of an application */
#define APPLICATION (NUMBER(55) | R1)

#define IF_COND_3V3 0x1aau
#define OP_COND_3V3 0x00ff8000u
#define OP_COND_HIGH_CAPACITY 0x40000000u
#define OP_COND_READY 0x80000000u
#define BUS_4_BITS 2u
#define R1_ERRORS 0xfdf90008u
#define R1_STATE(response) ((response) >> 9 & 15)
#define STATE_TRANSFER 4
#define R1_READY_FOR_DATA 0x100u

#define HZ_FIRST 400000u /* while the card is identified */
#define HZ_DATA 25000000u
#define START_MS 1000 /* time for a card to power up */

static int sdhci_interrupt_id;
static uint32_t sdhci_card; /* relative address << 16 */
static bool high_capacity;  /* addressed by sectors, not bytes */
static bool sdhci_card_gone;
static struct partition sdhci_partition; /* the part that clients access as the disk */
static uint32_t sdhci_buffer[DISKMSG_SECTORS_MOST * DISKMSG_SECTOR / 4];

/* Waits for one of the bits, and clears it. The signal is on only during the wait, so the line is
 * quiet when it is unmasked. */
static int sdhci_wait_bits(uint32_t bits)
{
    const uint64_t deadline = disk_deadline(&disk_sdhci);

    for (bool late = false;;) {
        uint32_t now = register_get(INTERRUPT);

        if (now & INT_ERRORS) {
            return EIO;
        }
        if (now & bits) {
            register_put(INTERRUPT, now & bits);
            return 0;
        }
        if (late) {
            return ENODEV;
        }
        register_put(SIGNAL_ENABLE, bits | INT_ERRORS);
        late = !disk_interrupt(deadline);
        register_put(SIGNAL_ENABLE, 0);
        InterruptUnmask(SDHCI_IRQ, sdhci_interrupt_id);
    }
}

/* The controller continues after an error only when its state machines have been reset. */
static int sdhci_recover_lines(int error)
{
    register_put(CONTROL1, register_get(CONTROL1) | CONTROL1_RESET_LINES);
    for (unsigned ms = 0; register_get(CONTROL1) & CONTROL1_RESET_LINES; ms++) {
        if (ms == START_MS) {
            error = ENODEV;
            break;
        }
        delay(1);
    }
    register_put(INTERRUPT, register_get(INTERRUPT));
    sdhci_card_gone |= error == ENODEV;
    return error;
}

/* Sends a command and waits for its response, which it doesn't check. */
static int command_send(uint32_t what, uint32_t argument)
{
    if (sdhci_card_gone) {
        return ENODEV;
    }
    register_put(INTERRUPT, register_get(INTERRUPT));
    register_put(ARGUMENT, argument);
    register_put(COMMAND, what);
    return sdhci_wait_bits(INT_COMMAND);
}

/* Likewise, and checks the response; its first word is in *response. */
static int sdhci_run_command(uint32_t what, uint32_t argument, uint32_t *response)
{
    int error = command_send(what, argument);
    uint32_t first = register_get(RESPONSE);

    if (!error && (what & R1) == R1 && what != SEND_RELATIVE_ADDRESS && what != SEND_IF_COND &&
        (first & R1_ERRORS)) {
        error = EIO;
    }
    if (response) {
        *response = first;
    }
    return error ? sdhci_recover_lines(error) : 0;
}

static int application_command(uint32_t what, uint32_t argument, uint32_t *response)
{
    int error = sdhci_run_command(APPLICATION, sdhci_card, NULL);

    return error ? error : sdhci_run_command(what, argument, response);
}

/* ---- the card ---------------------------------------------------------------------- */

/* The clock is off while its divider changes. */
static int clock_set(uint32_t hz)
{
    uint32_t divider = (SDHCI_HZ + 2 * hz - 1) / (2 * hz); /* of twice itself */
    uint32_t bits = CONTROL1_TIMEOUT_LONGEST | (divider & 0xff) << 8 | (divider >> 8 & 3) << 6;

    register_put(CONTROL1, bits | CONTROL1_CLOCK_INTERNAL);
    for (unsigned ms = 0; !(register_get(CONTROL1) & CONTROL1_CLOCK_STABLE); ms++) {
        if (ms == START_MS) {
            return ENODEV;
        }
        delay(1);
    }
    register_put(CONTROL1, bits | CONTROL1_CLOCK_INTERNAL | CONTROL1_CLOCK_CARD);
    delay(1);
    return 0;
}

static int controller_start(void)
{
    register_put(CONTROL1, CONTROL1_RESET_ALL);
    for (unsigned ms = 0; register_get(CONTROL1) & CONTROL1_RESET_ALL; ms++) {
        if (ms == START_MS) {
            return ENODEV;
        }
        delay(1);
    }
    register_put(CONTROL0, CONTROL0_POWER_3V3);
    register_put(SIGNAL_ENABLE, 0);
    register_put(STATUS_ENABLE,
                 INT_COMMAND | INT_TRANSFER | INT_WRITE_READY | INT_READ_READY | INT_ERRORS);
    return clock_set(HZ_FIRST);
}

/* Wakes the card, and waits until it has powered up. Only a card of version 2 or later answers
 * SEND_IF_COND, and only such a one may be of high capacity. */
static int card_wake(void)
{
    uint32_t response, capacity = 0;
    int error = sdhci_run_command(GO_IDLE, 0, NULL);

    if (!error && sdhci_run_command(SEND_IF_COND, IF_COND_3V3, &response) == 0) {
        capacity = OP_COND_HIGH_CAPACITY;
    }
    for (unsigned ms = 0; !error; ms++) {
        error = application_command(SEND_OP_COND, OP_COND_3V3 | capacity, &response);
        if (!error && (response & OP_COND_READY)) {
            high_capacity = (response & OP_COND_HIGH_CAPACITY) != 0;
            return 0;
        }
        if (ms == START_MS) {
            return ENODEV;
        }
        delay(1);
    }
    return error;
}

static int card_open(struct diskmsg_info *info)
{
    int error = card_wake();

    error = error ? error : sdhci_run_command(ALL_SEND_CID, 0, NULL);
    error = error ? error : sdhci_run_command(SEND_RELATIVE_ADDRESS, 0, &sdhci_card);
    sdhci_card &= 0xffff0000u;
    error = error ? error : sdhci_run_command(SEND_CSD, sdhci_card, NULL);
    if (!error) {
        const uint32_t csd[] = {register_get(RESPONSE), register_get(RESPONSE + 1),
                                register_get(RESPONSE + 2), register_get(RESPONSE + 3)};
        info->sectors = csd_sectors(csd);
        info->physical_bytes = DISKMSG_SECTOR;
        info->read_only = 0;
    }
    error = error ? error : sdhci_run_command(SELECT_CARD, sdhci_card, NULL);
    error = error ? error : application_command(SET_BUS_WIDTH, BUS_4_BITS, NULL);
    error = error ? error : sdhci_run_command(SET_BLOCKLEN, DISKMSG_SECTOR, NULL);
    if (error) {
        return error;
    }
    register_put(CONTROL0, register_get(CONTROL0) | CONTROL0_4_BITS);
    return clock_set(HZ_DATA);
}

/* ---- requests ---------------------------------------------------------------------- */

/* The card may be in the middle of the transfer: only this command ends it. The card doesn't answer
 * if the transfer had not begun or is over, and reports that with the next command; so these
 * answers are ignored, except the card's state. */
static int transfer_failed(int error)
{
    uint32_t status = 0;
    int answer;

    sdhci_recover_lines(error);
    if ((answer = command_send(STOP_TRANSMISSION, 0)) != 0) {
        sdhci_recover_lines(answer);
    }
    for (uint64_t waited = 0; !sdhci_card_gone && waited < disk_sdhci.wait_ns; waited += 1000000u) {
        if ((answer = command_send(SEND_STATUS, sdhci_card)) != 0) {
            sdhci_recover_lines(answer);
        } else {
            status = register_get(RESPONSE);
        }
        if ((status & R1_READY_FOR_DATA) && R1_STATE(status) == STATE_TRANSFER) {
            break;
        }
        delay(1);
    }
    return error;
}

static int sdhci_transfer_sectors(uint32_t what, uint64_t sector, uint32_t sectors)
{
    bool to_host = (what & TO_HOST) != 0;
    uint32_t *at = sdhci_buffer,
             address = (uint32_t)(high_capacity ? sector : sector * DISKMSG_SECTOR);

    register_put(BLOCKS, DISKMSG_SECTOR | sectors << 16);
    int error = sdhci_run_command(what, address, NULL);

    for (; !error && sectors > 0; sectors--) {
        error = sdhci_wait_bits(to_host ? INT_READ_READY : INT_WRITE_READY);
        for (unsigned i = 0; !error && i < DISKMSG_SECTOR / 4; i++, at++) {
            if (to_host) {
                *at = register_get(DATA);
            } else {
                register_put(DATA, *at);
            }
        }
    }
    error = error ? error : sdhci_wait_bits(INT_TRANSFER);
    /* A card that is read to its end may report OUT_OF_RANGE for the sectors after it. */
    if (!error && !to_host && (register_get(RESPONSE + 3) & R1_ERRORS)) {
        error = EIO;
    }
    return error ? transfer_failed(error) : 0;
}

static int card_read(uint64_t sector, uint32_t sectors)
{
    return sdhci_transfer_sectors(READ_BLOCKS, sdhci_partition.first + sector, sectors);
}

/* Returns when the card has programmed the data. */
static int card_write(uint64_t sector, uint32_t sectors)
{
    uint32_t status = 0;
    int error = sdhci_transfer_sectors(WRITE_BLOCKS, sdhci_partition.first + sector, sectors);

    for (uint64_t waited = 0; !error; waited += 1000000u) {
        error = sdhci_run_command(SEND_STATUS, sdhci_card, &status);
        if (!error && (status & R1_READY_FOR_DATA) && R1_STATE(status) == STATE_TRANSFER) {
            return 0;
        }
        if (waited >= disk_sdhci.wait_ns) {
            return sdhci_recover_lines(ENODEV);
        }
        delay(1);
    }
    return error;
}

static int card_flush(void)
{
    return sdhci_card_gone ? ENODEV : 0;
}

static int card_begin(struct diskmsg_info *info)
{
    struct kymo_map map = {.phys = SDHCI_BASE,
                           .len = REGISTERS_BYTES,
                           .flags = KYMO_MAP_DEVICE | KYMO_PROT_READ | KYMO_PROT_WRITE};
    struct sigevent event = {.sigev_notify = SIGEV_INTR};

    if (MemMap(&map) < 0) {
        return errno;
    }
    registers_at((uintptr_t)map.vaddr);
    sdhci_interrupt_id = InterruptAttachEvent(SDHCI_IRQ, &event, 0);
    if (sdhci_interrupt_id < 0) {
        return errno;
    }
    int error = controller_start();
    error = error ? error : card_open(info);
    error = error ? error : sdhci_transfer_sectors(READ_BLOCKS, 0, 1);
    if (error) {
        return ENODEV; /* no card, or none that supports SD */
    }
    error = partition_find((const uint8_t *)sdhci_buffer, info->sectors, &sdhci_partition);
    info->sectors = sdhci_partition.sectors;
    return error;
}

struct disk disk_sdhci = {
    .name = "SD card",
    .open = card_begin,
    .buffer = sdhci_buffer,
    .read = card_read,
    .write = card_write,
    .flush = card_flush,
};
