/* SPDX-License-Identifier: BSD-2-Clause */
/* See disk.h. A block device's size is where its end is, like a file's. */
#include "host/extract/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/kymo.h"
#include "lib/blocklog/blocklog.h"

static int extract_disk_read(void *context, uint64_t sector, void *data, uint32_t sectors)
{
    const struct extract_disk *disk = context;
    size_t bytes = (size_t)sectors * BLOCKLOG_SECTOR, at = 0;

    if (sectors > disk->disk.sectors || sector > disk->disk.sectors - sectors) {
        return -EIO;
    }
    while (at < bytes) {
        ssize_t got =
            pread(disk->fd, (char *)data + at, bytes - at, (off_t)(sector * BLOCKLOG_SECTOR + at));

        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return -EIO;
        }
        at += (size_t)got;
    }
    return 0;
}

static int extract_disk_write(void *context, uint64_t sector, const void *data, uint32_t sectors)
{
    (void)context;
    (void)sector;
    (void)data;
    (void)sectors;
    return -EROFS;
}

static int extract_disk_flush(void *context)
{
    (void)context;
    return 0;
}

/* All up to the file's end; beyond it the disk is only what its first sector claims. */
static uint64_t extract_disk_next(void *context, uint64_t sector)
{
    const struct extract_disk *disk = context;

    return sector < disk->disk.sectors - disk->missing ? sector : UINT64_MAX;
}

/* A copy that broke off: what is missing can't be read, the rest is as it was. */
static void take_size(struct extract_disk *disk)
{
    struct blocklog_super *super = &disk->super;

    if (extract_disk_read(disk, 0, super, 1) != 0) {
        return;
    }
    disk->later = blocklog_super_is_later(super);
    if (blocklog_super_is_sound(super) && super->sectors > disk->disk.sectors) {
        disk->missing = super->sectors - disk->disk.sectors;
        disk->disk.sectors = super->sectors;
    }
}

static bool is_qcow2(int fd)
{
    char magic[4];

    return pread(fd, magic, sizeof(magic), 0) == 4 && memcmp(magic, "QFI\xfb", 4) == 0;
}

int extract_disk_open(struct extract_disk *disk, const char *path)
{
    disk->fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st = {.st_mode = 0};
    off_t bytes = disk->fd < 0 ? -1 : lseek(disk->fd, 0, SEEK_END);

    if (bytes < 0 || fstat(disk->fd, &st) != 0 || S_ISDIR(st.st_mode)) {
        kymo_error("%s: %s", path,
                   bytes < 0 || !S_ISDIR(st.st_mode) ? strerror(errno) : "a directory, not a disk");
        extract_disk_close(disk);
        return -1;
    }
    if (is_qcow2(disk->fd)) {
        kymo_error("%s: a qcow2 image; make it plain: qemu-img convert -O raw", path);
        extract_disk_close(disk);
        return -1;
    }
    disk->disk = (struct blocklog_disk){.context = disk,
                                        .sectors = (uint64_t)bytes / BLOCKLOG_SECTOR,
                                        .physical_bytes = BLOCKLOG_SECTOR,
                                        .read = extract_disk_read,
                                        .write = extract_disk_write,
                                        .flush = extract_disk_flush,
                                        .next = extract_disk_next};
    disk->missing = 0;
    disk->later = 0;
    take_size(disk);
    if (disk->later != 0) {
        kymo_error(
            "%s: a block log of version %u, this kymo reads versions 1 to %u: use a later kymo",
            path, disk->later, BLOCKLOG_VERSION);
        extract_disk_close(disk);
        return -1;
    }
    return 0;
}

void extract_disk_close(struct extract_disk *disk)
{
    if (disk->fd >= 0) {
        close(disk->fd);
    }
    disk->fd = -1;
}
