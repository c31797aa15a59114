/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A SATA disk on an AHCI controller (Serial ATA AHCI 1.3.1; commands: ATA8-ACS): the first disk,
 * from the lowest port on, that has a partition for captures, or no partitions. One command at a
 * time, in slot 0; the controller fetches it, moves the data, and sends a message (MSI). A disk
 * needs addresses of 48 bits and sectors of 512 bytes, like all of this century.
 *
 * The disk's cache is on the medium when a flush has been answered. After an error the port is
 * stopped, the link restarted if the disk is still busy, and the port started, so that the next
 * request finds it idle. A disk that does not answer in time, or that is pulled, is given up
 * permanently; its port is stopped, so the controller no longer writes into the buffer.
 *
 * Tested by test/apps/diskd/ahci_test.c, against a model of controller and disk with errors, and
 * test/board/medium.py, against QEMU's.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "apps/diskd/disk.h"
#include "apps/diskd/partition.h"
#include "apps/diskd/wait.h"
#include "apps/pci/pci.h"
#include "abi/sys/kymo.h"
#include "abi/sys/neutrino.h"
#include "lib/include/unistd.h"

#ifndef DISK_REGISTERS_H
#define DISK_REGISTERS_H "apps/diskd/registers.h"
#endif
#include DISK_REGISTERS_H

#define CLASS_AHCI 0x010601u
#define BAR 5
#define PORTS_AT 0x100u
#define PORT_BYTES 0x80u
#define PORTS_MOST 32u

/* Word offsets: the controller's registers, and a port's from PORT() on. */
enum {
    CAP = 0x00 / 4,
    CONTROL = 0x04 / 4,
    INTERRUPT = 0x08 / 4, /* one bit per port */
    IMPLEMENTED = 0x0c / 4,
    CAP2 = 0x24 / 4,
    HANDOFF = 0x28 / 4,
};
#define PORT(n) ((PORTS_AT + PORT_BYTES * (n)) / 4)
enum {
    PORT_LIST = 0x00 / 4, /* of commands: two words of address */
    PORT_RECEIVED = 0x08 / 4,
    PORT_INTERRUPT = 0x10 / 4,
    PORT_ENABLE = 0x14 / 4,
    PORT_COMMAND = 0x18 / 4,
    PORT_TASK = 0x20 / 4,
    PORT_SIGNATURE = 0x24 / 4,
    PORT_STATUS = 0x28 / 4,
    PORT_CONTROL = 0x2c / 4,
    PORT_ERROR = 0x30 / 4,
    PORT_ISSUE = 0x38 / 4,
};
#define CAP_64 0x80000000u
#define CONTROL_AHCI 0x80000000u
#define CONTROL_INTERRUPTS 0x2u
#define CAP2_HANDOFF 1u
#define HANDOFF_FIRMWARE 1u
#define HANDOFF_OURS 2u
#define COMMAND_START 0x1u
#define COMMAND_POWER 0x6u /* spun up and powered */
#define COMMAND_RECEIVE 0x10u
#define COMMAND_RECEIVING 0x4000u
#define COMMAND_RUNNING 0x8000u
#define TASK_ERROR 0x01u
#define TASK_REQUESTS 0x08u
#define TASK_BUSY 0x80u
#define SIGNATURE_DISK 0x101u
#define STATUS_LINK 0xfu
#define STATUS_LINK_UP 3u
#define CONTROL_LINK_ANEW 1u
#define INT_DONE 0x0000000fu /* the disk has sent a response that may end a command */
#define INT_LINK 0x00400040u /* a disk has come or gone */
#define INT_ERRORS 0x78000000u

enum {
    ATA_READ = 0x25,
    ATA_WRITE = 0x35,
    ATA_FLUSH = 0xea,
    ATA_IDENTIFY = 0xec,
};
#define STRUCTURE_TO_DISK 0x27u
#define STRUCTURE_IS_COMMAND 0x80u
#define DEVICE_LBA 0x40u

/* A header in the list of commands: words of the command, direction, parts of the data. */
#define HEADER_COMMAND_WORDS 5u
#define HEADER_WRITES 0x40u
#define HEADER_PARTS(n) ((uint32_t)(n) << 16)

/* The memory that the controller reads and writes: the list, its received data, the command with
 * one part of data; then the data. */
enum { LIST = 0, RECEIVED = 0x400, TABLE = 0x500, TABLE_PART = TABLE + 0x80, DATA = 0x1000 };
#define BUFFER_BYTES (DISKMSG_SECTORS_MOST * DISKMSG_SECTOR)

/* Word offsets in a disk's description of itself. */
enum { IDENTITY_FEATURES = 83, IDENTITY_SECTORS = 100, IDENTITY_SECTOR = 106 };
#define FEATURES_VALID(word) (((word)&0xc000u) == 0x4000u)
#define FEATURE_48_BITS 0x0400u
#define SECTOR_LARGER 0x1000u  /* than 512 bytes, as commands count them */
#define SECTOR_SEVERAL 0x2000u /* 2^n of them are a physical one */

#define STEP_NS 1000000u
#define STOP_MS 500u /* time for a port to stop */
#define LINK_MS 1000u
#define HANDOFF_MS 2000u

static uint8_t *ahci_memory;
static uint64_t memory_phys;
static unsigned ahci_nports;    /* number of ports whose registers are mapped */
static unsigned ahci_disk_port; /* the disk's port */
static int interrupt_line, ahci_interrupt_id;
static struct partition ahci_partition;
static bool ahci_disk_gone;
static bool ahci_port_stuck; /* a port has not stopped */

static uint32_t port_get(unsigned at)
{
    return register_get(PORT(ahci_disk_port) + at);
}

static void port_put(unsigned at, uint32_t value)
{
    register_put(PORT(ahci_disk_port) + at, value);
}

/* ---- the port ---------------------------------------------------------------------- */

/* Waits until these bits of a register have the wanted value. */
static bool wait_bits(unsigned at, uint32_t mask, uint32_t wanted, unsigned ms)
{
    for (unsigned i = 0; i <= ms; i++) {
        if ((register_get(at) & mask) == wanted) {
            return true;
        }
        delay(1);
    }
    return false;
}

static bool ahci_link_is_up(void)
{
    return (port_get(PORT_STATUS) & STATUS_LINK) == STATUS_LINK_UP;
}

/* Stops the port. When this returns true, the controller no longer accesses our memory. */
static bool port_stop(void)
{
    const unsigned command = PORT(ahci_disk_port) + PORT_COMMAND;

    register_put(command, register_get(command) & ~COMMAND_START);
    if (!wait_bits(command, COMMAND_RUNNING, 0, STOP_MS)) {
        return false;
    }
    register_put(command, register_get(command) & ~COMMAND_RECEIVE);
    return wait_bits(command, COMMAND_RECEIVING, 0, STOP_MS);
}

static void address_put(unsigned at, uint64_t phys)
{
    port_put(at, (uint32_t)phys);
    port_put(at + 1, (uint32_t)(phys >> 32));
}

static void errors_clear(void)
{
    port_put(PORT_ERROR, UINT32_MAX);
    port_put(PORT_INTERRUPT, UINT32_MAX);
    register_put(INTERRUPT, 1u << ahci_disk_port);
}

/* Starts a port that was stopped; the disk is idle. */
static bool port_start(void)
{
    const unsigned command = PORT(ahci_disk_port) + PORT_COMMAND;

    address_put(PORT_LIST, memory_phys + LIST);
    address_put(PORT_RECEIVED, memory_phys + RECEIVED);
    errors_clear();
    register_put(command, register_get(command) | COMMAND_POWER | COMMAND_RECEIVE);
    if (!wait_bits(PORT(ahci_disk_port) + PORT_TASK, TASK_BUSY | TASK_REQUESTS, 0, LINK_MS)) {
        return false;
    }
    register_put(command, register_get(command) | COMMAND_START);
    port_put(PORT_ENABLE, INT_DONE | INT_LINK | INT_ERRORS);
    return true;
}

static bool link_anew(void)
{
    port_put(PORT_CONTROL, CONTROL_LINK_ANEW);
    delay(2);
    port_put(PORT_CONTROL, 0);
    return wait_bits(PORT(ahci_disk_port) + PORT_STATUS, STATUS_LINK, STATUS_LINK_UP, LINK_MS);
}

/* Gives the disk up permanently. A port that does not stop may still use our memory, so no other
 * one may get it. */
static int given_up(void)
{
    ahci_disk_gone = true;
    port_put(PORT_ENABLE, 0);
    ahci_port_stuck |= !port_stop();
    return ENODEV;
}

/* Called after an error: makes the port ready for the next command. */
static int ahci_recover_port(void)
{
    if (!ahci_link_is_up() || !port_stop() || (port_get(PORT_INTERRUPT) & INT_LINK)) {
        return given_up(); /* a disk that lost power has lost its unwritten data */
    }
    if ((port_get(PORT_TASK) & (TASK_BUSY | TASK_REQUESTS)) && !link_anew()) {
        return given_up();
    }
    return port_start() ? EIO : given_up();
}

/* ---- a command --------------------------------------------------------------------- */

static void ahci_word_put(unsigned at, uint32_t value)
{
    memcpy(ahci_memory + at, &value, sizeof(value));
}

/* Sends a command with so many bytes of the buffer, which the disk gets if `writes`. */
static void command_make(uint8_t command, uint64_t sector, uint32_t sectors, uint32_t bytes,
                         bool writes)
{
    const uint64_t data = memory_phys + DATA;
    uint8_t structure[20] = {STRUCTURE_TO_DISK, STRUCTURE_IS_COMMAND, command};

    structure[7] = DEVICE_LBA;
    for (unsigned i = 0; i < 3; i++) {
        structure[4 + i] = (uint8_t)(sector >> 8 * i);
        structure[8 + i] = (uint8_t)(sector >> (24 + 8 * i));
    }
    structure[12] = (uint8_t)sectors;
    structure[13] = (uint8_t)(sectors >> 8);
    ahci_word_put(LIST,
                  HEADER_COMMAND_WORDS | (writes ? HEADER_WRITES : 0) | HEADER_PARTS(bytes > 0));
    ahci_word_put(LIST + 4, 0);
    ahci_word_put(LIST + 8, (uint32_t)(memory_phys + TABLE));
    ahci_word_put(LIST + 12, (uint32_t)((memory_phys + TABLE) >> 32));
    memcpy(ahci_memory + TABLE, structure, sizeof(structure));
    ahci_word_put(TABLE_PART, (uint32_t)data);
    ahci_word_put(TABLE_PART + 4, (uint32_t)(data >> 32));
    ahci_word_put(TABLE_PART + 8, 0);
    ahci_word_put(TABLE_PART + 12, bytes ? bytes - 1 : 0);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Waits until the command has ended. The interrupt is acknowledged before the port is checked:
 * later events send another message. */
static int command_wait(void)
{
    const uint64_t deadline = disk_deadline(&disk_ahci);

    for (bool late = false;; late = !disk_interrupt(deadline)) {
        const uint32_t why = port_get(PORT_INTERRUPT);
        port_put(PORT_INTERRUPT, why);
        register_put(INTERRUPT, 1u << ahci_disk_port);
        if ((why & INT_LINK) || !ahci_link_is_up()) {
            return given_up();
        }
        if (why & INT_ERRORS) {
            return ahci_recover_port();
        }
        if (port_get(PORT_ISSUE) == 0) {
            return port_get(PORT_TASK) & TASK_ERROR ? ahci_recover_port() : 0;
        }
        if (late) {
            return given_up();
        }
        InterruptUnmask(interrupt_line, ahci_interrupt_id);
    }
}

static int ahci_run_command(uint8_t what, uint64_t sector, uint32_t sectors, uint32_t bytes)
{
    if (ahci_disk_gone) {
        return ENODEV;
    }
    command_make(what, sector, sectors, bytes, what == ATA_WRITE);
    port_put(PORT_ISSUE, 1);
    int error = command_wait();
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return error;
}

/* ---- the disk ---------------------------------------------------------------------- */

static int ahci_read(uint64_t sector, uint32_t sectors)
{
    return ahci_run_command(ATA_READ, ahci_partition.first + sector, sectors,
                            sectors * DISKMSG_SECTOR);
}

static int ahci_write(uint64_t sector, uint32_t sectors)
{
    return ahci_run_command(ATA_WRITE, ahci_partition.first + sector, sectors,
                            sectors * DISKMSG_SECTOR);
}

static int ahci_flush(void)
{
    return ahci_run_command(ATA_FLUSH, 0, 0, 0);
}

static uint16_t ahci_read_identity(unsigned word)
{
    return (uint16_t)(ahci_memory[DATA + 2 * word] | ahci_memory[DATA + 2 * word + 1] << 8);
}

static int disk_describe(struct diskmsg_info *info)
{
    int error = ahci_run_command(ATA_IDENTIFY, 0, 0, DISKMSG_SECTOR);
    const unsigned size = ahci_read_identity(IDENTITY_SECTOR);

    if (error) {
        return error;
    }
    if (!FEATURES_VALID(ahci_read_identity(IDENTITY_FEATURES)) ||
        !(ahci_read_identity(IDENTITY_FEATURES) & FEATURE_48_BITS) ||
        (FEATURES_VALID(size) && (size & SECTOR_LARGER))) {
        return ENODEV;
    }
    *info = (struct diskmsg_info){.physical_bytes = DISKMSG_SECTOR};
    for (unsigned i = 0; i < 3; i++) {
        info->sectors |= (uint64_t)ahci_read_identity(IDENTITY_SECTORS + i) << 16 * i;
    }
    if (FEATURES_VALID(size) && (size & SECTOR_SEVERAL)) {
        info->physical_bytes <<= size & 15;
    }
    return info->sectors > 0 ? 0 : ENODEV;
}

/* Checks the disk at a port: it needs a partition for captures, or none at all. ENODEV: there is no
 * disk. */
static int disk_at(unsigned n, struct diskmsg_info *info)
{
    ahci_disk_port = n;
    ahci_disk_gone = false;
    ahci_partition = (struct partition){0};
    if (!ahci_link_is_up() || port_get(PORT_SIGNATURE) != SIGNATURE_DISK) {
        return ENODEV;
    }
    if (!port_stop() || !port_start()) {
        return given_up();
    }
    int error = disk_describe(info);
    error = error ? error : ahci_run_command(ATA_READ, 0, 1, DISKMSG_SECTOR);
    error = error ? error : partition_find(ahci_memory + DATA, info->sectors, &ahci_partition);
    info->sectors = ahci_partition.sectors;
    if (error) {
        (void)given_up();
    }
    return error;
}

/* Of several unsuitable disks, the first one's error is returned. */
static int disk_find(struct diskmsg_info *info)
{
    const uint32_t implemented = register_get(IMPLEMENTED);
    int result = ENODEV;

    for (unsigned n = 0; n < ahci_nports; n++) {
        int error = implemented >> n & 1 ? disk_at(n, info) : ENODEV;
        if (error == 0 || ahci_port_stuck) {
            return error;
        }
        result = result == ENODEV ? error : result;
    }
    return result;
}

/* ---- the controller ---------------------------------------------------------------- */

/* If the firmware still drives the controller, asks it to release it. */
static void controller_take(void)
{
    register_put(CONTROL, register_get(CONTROL) | CONTROL_AHCI);
    if (register_get(CAP2) & CAP2_HANDOFF) {
        register_put(HANDOFF, register_get(HANDOFF) | HANDOFF_OURS);
        (void)wait_bits(HANDOFF, HANDOFF_FIRMWARE, 0, HANDOFF_MS);
    }
    register_put(CONTROL, register_get(CONTROL) & ~CONTROL_INTERRUPTS);
    for (unsigned n = 0; n < ahci_nports; n++) {
        if (register_get(IMPLEMENTED) >> n & 1) {
            register_put(PORT(n) + PORT_ENABLE, 0);
            ahci_disk_port = n; /* the firmware may have left it running */
            (void)port_stop();
        }
    }
    register_put(INTERRUPT, UINT32_MAX);
    register_put(CONTROL, register_get(CONTROL) | CONTROL_INTERRUPTS);
}

static int ahci_memory_map(void)
{
    struct kymo_map map = {.flags = KYMO_PROT_READ | KYMO_PROT_WRITE, .len = DATA + BUFFER_BYTES};

    if (MemMap(&map) < 0) {
        return errno;
    }
    ahci_port_stuck = false;
    ahci_memory = (uint8_t *)(uintptr_t)map.vaddr;
    memory_phys = map.phys;
    disk_ahci.buffer = ahci_memory + DATA;
    return (register_get(CAP) & CAP_64) || (map.phys + map.len) >> 32 == 0 ? 0 : ENOMEM;
}

static int controller_open(const struct kymo_pci_function *f, struct diskmsg_info *info)
{
    struct sigevent event = {.sigev_notify = SIGEV_INTR};
    const uint64_t room = f->bars[BAR].len / PORT_BYTES;

    const uint64_t there = room > PORTS_AT / PORT_BYTES ? room - PORTS_AT / PORT_BYTES : 0;
    ahci_nports = there < PORTS_MOST ? (unsigned)there : PORTS_MOST;
    volatile void *at = ahci_nports ? pci_map(f, BAR, 0, PORT(ahci_nports) * 4) : NULL;
    if (!at || pci_messages_begin(f) != 0) {
        return ENODEV;
    }
    registers_at((uintptr_t)at);
    int error = ahci_memory_map();
    interrupt_line = f->line;
    ahci_interrupt_id = error ? -1 : InterruptAttachEvent(interrupt_line, &event, 0);
    if (ahci_interrupt_id < 0) {
        return error ? error : errno;
    }
    controller_take();
    error = disk_find(info);
    if (error) {
        register_put(CONTROL, register_get(CONTROL) & ~CONTROL_INTERRUPTS);
        InterruptDetach(ahci_interrupt_id);
    }
    return error;
}

static int ahci_open(struct diskmsg_info *info)
{
    unsigned count = 0;
    int result = ENODEV;
    const struct kymo_pci_function *f = pci_functions(&count);

    for (; f && count > 0; f++, count--) {
        int error = PCI_CLASS(f) == CLASS_AHCI ? controller_open(f, info) : ENODEV;
        if (error == 0) {
            return 0;
        }
        result = result == ENODEV ? error : result;
    }
    return result;
}

struct disk disk_ahci = {
    .name = "AHCI",
    .open = ahci_open,
    .read = ahci_read,
    .write = ahci_write,
    .flush = ahci_flush,
};
