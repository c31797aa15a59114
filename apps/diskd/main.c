/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * diskd: a disk's driver process. Needs the abilities device and interrupt. Serves the messages of
 * sys/diskmsg.h under the name "disk0", one after the other; so data acknowledged before a FLUSH is
 * on the medium after it. Clients need ability device too: a disk has no files and no owners.
 * `diskd -w SECONDS`: time that the disk may take to answer (default 30) before it counts as gone.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/dispatch.h>

#include "apps/diskd/disk.h"
#include "apps/io_probe.h"
#include "abi/sys/ability.h"
#include "lib/include/kymo.h"
#include "abi/sys/neutrino.h"

#define WAIT_SECONDS 30
#define WAIT_MOST 3600

/* The board's kinds, in the order in which they are probed; then the present disk. */
static struct disk *const diskd_disk_kinds[] = {DISK_KINDS};
#define KINDS (sizeof(diskd_disk_kinds) / sizeof(diskd_disk_kinds[0]))
static struct disk *diskd_found_disk;
static struct diskmsg_info diskd_info;

/* Returns whether the sectors are on the disk, and not too many. */
static int diskd_check_request(const struct diskmsg *msg)
{
    bool there = msg->sectors > 0 && msg->sectors <= DISKMSG_SECTORS_MOST &&
                 msg->sector < diskd_info.sectors &&
                 diskd_info.sectors - msg->sector >= msg->sectors;

    return there ? 0 : EINVAL;
}

/* Makes a request to the device, between the probes io:::start and io:::done. */
static int diskd_request_sectors(int flags, uint64_t sector, uint32_t sectors, int client)
{
    const uint32_t bytes = sectors * DISKMSG_SECTOR;

    io_started(bytes, flags, client, sector);
    int error = flags == IO_READ    ? diskd_found_disk->read(sector, sectors)
                : flags == IO_WRITE ? diskd_found_disk->write(sector, sectors)
                                    : diskd_found_disk->flush();
    io_ended(bytes, flags, error, client, sector);
    return error;
}

static void serve_read(int rcvid, const struct diskmsg *msg, int client)
{
    int error = diskd_check_request(msg);

    error = error ? error : diskd_request_sectors(IO_READ, msg->sector, msg->sectors, client);
    if (error) {
        MsgError(rcvid, error);
    } else {
        MsgReply(rcvid, 0, diskd_found_disk->buffer, msg->sectors * DISKMSG_SECTOR);
    }
}

static void diskd_serve_write(int rcvid, const struct diskmsg *msg, int client)
{
    size_t bytes = msg->sectors * DISKMSG_SECTOR;
    int error = diskd_info.read_only ? EROFS : diskd_check_request(msg);

    if (!error && MsgRead(rcvid, diskd_found_disk->buffer, bytes, sizeof(*msg)) != (long)bytes) {
        error = EINVAL;
    }
    error = error ? error : diskd_request_sectors(IO_WRITE, msg->sector, msg->sectors, client);
    if (error) {
        MsgError(rcvid, error);
    } else {
        MsgReply(rcvid, 0, NULL, 0);
    }
}

static void serve_flush(int rcvid, int client)
{
    int error = diskd_request_sectors(IO_FLUSH, 0, 0, client);

    if (error) {
        MsgError(rcvid, error);
    } else {
        MsgReply(rcvid, 0, NULL, 0);
    }
}

/* Queried from the kernel once per connection: consecutive messages mostly have the same sender. */
static int32_t able_pid, able_scoid;

static bool is_able(const struct _msg_info *from)
{
    struct kymo_proc_info sender;

    if (from->pid == able_pid && from->scoid == able_scoid) {
        return true;
    }
    if (ProcInfo(from->pid, &sender) < 0 || !(sender.ability & ABILITY_DEVICE)) {
        return false;
    }
    able_pid = from->pid;
    able_scoid = from->scoid;
    return true;
}

static void diskd_serve_message(int rcvid, const struct diskmsg *msg, const struct _msg_info *from)
{
    if (from->msglen < sizeof(*msg)) {
        MsgError(rcvid, EINVAL);
    } else if (!is_able(from)) {
        MsgError(rcvid, EPERM);
    } else if (msg->type == DISKMSG_INFO) {
        MsgReply(rcvid, 0, &diskd_info, sizeof(diskd_info));
    } else if (msg->type == DISKMSG_READ) {
        serve_read(rcvid, msg, from->pid);
    } else if (msg->type == DISKMSG_WRITE) {
        diskd_serve_write(rcvid, msg, from->pid);
    } else if (msg->type == DISKMSG_FLUSH) {
        serve_flush(rcvid, from->pid);
    } else {
        MsgError(rcvid, ENOSYS);
    }
}

static bool diskd_parse_options(int argc, char **argv)
{
    long seconds = argc == 3 && strcmp(argv[1], "-w") == 0 ? strtol(argv[2], NULL, 10) : 0;

    if (argc != 1 && (seconds < 1 || seconds > WAIT_MOST)) {
        printf("usage: diskd [-w SECONDS]\n"
               "Drives the disk. -w: how long it may take to answer (default 30).\n");
        return false;
    }
    for (unsigned i = 0; i < KINDS; i++) {
        diskd_disk_kinds[i]->wait_ns = (uint64_t)(argc == 1 ? WAIT_SECONDS : seconds) * 1000000000u;
    }
    return true;
}

static void diskd_serve_clients(const name_attach_t *name)
{
    union {
        struct _pulse pulse;
        struct diskmsg msg;
    } in;
    struct _msg_info from;

    for (;;) {
        int rcvid = MsgReceive(name->chid, &in, sizeof(in), &from);

        if (rcvid > 0) {
            diskd_serve_message(rcvid, &in.msg, &from);
        } else if (rcvid == 0 && in.pulse.code == _PULSE_CODE_DISCONNECT) {
            able_pid = 0; /* the id may be another process's next */
            ConnectDetach(in.pulse.scoid);
        }
    }
}

/* Opens the first disk that has room for captures. If there is none, reports the error of each. */
static bool diskd_open_disk(void)
{
    int errors[KINDS];

    for (unsigned i = 0; i < KINDS; i++) {
        diskd_found_disk = diskd_disk_kinds[i];
        errors[i] = diskd_found_disk->open(&diskd_info);
        if (errors[i] == 0) {
            return true;
        }
    }
    for (unsigned i = 0; i < KINDS; i++) {
        printf("diskd: %s: %s\n", diskd_disk_kinds[i]->name,
               errors[i] == ENODEV   ? "no such device"
               : errors[i] == ENOENT ? "it has partitions, but none of type da, for captures"
                                     : strerror(errors[i]));
    }
    return false;
}

/* Called before the disk is accessed: a second driver would lose the first one's writes. */
static bool is_the_only_one(void)
{
    if (kymo_name_attach(DISKMSG_DRIVER, KYMO_NAME_FLAGS)) {
        return true;
    }
    printf("diskd: %s\n", errno == EEXIST ? "another one is running" : strerror(errno));
    return false;
}

int main(int argc, char **argv)
{
    if (!diskd_parse_options(argc, argv)) {
        return 2;
    }
    if (!is_the_only_one() || !diskd_open_disk()) {
        return 1;
    }
    name_attach_t *name = kymo_name_attach(DISKMSG_NAME, KYMO_NAME_FLAGS);
    if (!name) {
        printf("diskd: %s: %s\n", DISKMSG_NAME, strerror(errno));
        return 1;
    }
    diskd_serve_clients(name);
}
