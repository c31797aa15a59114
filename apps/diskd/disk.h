/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The device of diskd; one file per kind, chosen for each board in apps/apps.mk. One request at a
 * time; each waits for its end. Functions return 0 or an errno: EIO, or ENODEV if it has not
 * answered for wait_ns.
 */
#ifndef APPS_DISKD_DISK_H
#define APPS_DISKD_DISK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/diskmsg.h>

struct disk {
    const char *name;
    uint64_t wait_ns; /* for an answer; after that the device counts as permanently gone */
    /* Finds the device and describes it. ENODEV: this machine has none. */
    int (*open)(struct diskmsg_info *info);
    /* Room for DISKMSG_SECTORS_MOST sectors, between the device and the caller. */
    void *buffer;
    int (*read)(uint64_t sector, uint32_t sectors); /* into buffer */
    int (*write)(uint64_t sector, uint32_t sectors);
    int (*flush)(void);
};

extern struct disk disk_virtio, disk_sdhci, disk_ahci;

#endif
