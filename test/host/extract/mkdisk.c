/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes an image of a disk as tracelogger -f block: leaves it: mkdisk IMAGE FRAMES STEP... A step
 * is "format", "begin:NAME", "begin:NAME@SECONDS", "data:BUFFERS", "end" or "reclaim". An image
 * that exists is gone on with; FRAMES then say nothing. For test/host/extract/check.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/blocklog/blocklog.h"

static int image = -1;

static int disk_read(void *context, uint64_t sector, void *data, uint32_t sectors)
{
    size_t bytes = (size_t)sectors * BLOCKLOG_SECTOR;

    (void)context;
    return pread(image, data, bytes, (off_t)(sector * BLOCKLOG_SECTOR)) == (ssize_t)bytes ? 0
                                                                                          : -EIO;
}

static int disk_write(void *context, uint64_t sector, const void *data, uint32_t sectors)
{
    size_t bytes = (size_t)sectors * BLOCKLOG_SECTOR;

    (void)context;
    return pwrite(image, data, bytes, (off_t)(sector * BLOCKLOG_SECTOR)) == (ssize_t)bytes ? 0
                                                                                           : -EIO;
}

static int disk_flush(void *context)
{
    (void)context;
    return 0;
}

/* Each buffer of each capture is another. */
static int append(struct blocklog *log, unsigned buffers)
{
    static uint8_t data[BLOCKLOG_DATA_BYTES];
    static const char head[] = "TRACE_HEADER_BEGIN::TRACE_NODENAME::board-1TRACE_HEADER_END::";
    int result = 0;

    for (unsigned i = 0; i < buffers && result == 0; i++) {
        for (size_t at = 0; at < sizeof(data); at++) {
            data[at] = (uint8_t)(at * 7 + log->begin * 31 + log->offset / sizeof(data));
        }
        if (log->offset == 0) {
            memcpy(data, head, sizeof(head) - 1);
        }
        result = blocklog_append(log, data, sizeof(data), sizeof(data) / 16, 0);
    }
    return result;
}

static int begin(struct blocklog *log, char *name)
{
    char *at = strchr(name, '@');
    uint64_t seconds = at ? strtoull(at + 1, NULL, 10) : 0;

    if (at) {
        *at = '\0';
    }
    return blocklog_begin(log, name, seconds);
}

static int step(struct blocklog *log, const struct blocklog_disk *disk, char *word)
{
    if (strcmp(word, "format") == 0) {
        return blocklog_format(log, disk, 0x1234567890);
    }
    if (strncmp(word, "begin:", 6) == 0) {
        return begin(log, word + 6);
    }
    if (strncmp(word, "data:", 5) == 0) {
        return append(log, (unsigned)atoi(word + 5));
    }
    return strcmp(word, "end") == 0       ? blocklog_end(log)
           : strcmp(word, "reclaim") == 0 ? blocklog_reclaim(log)
                                          : -EINVAL;
}

int main(int argc, char **argv)
{
    static struct blocklog log;
    struct blocklog_disk disk = {
        .physical_bytes = 512, .read = disk_read, .write = disk_write, .flush = disk_flush};
    struct stat st;

    if (argc < 3) {
        return 2;
    }
    image = open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (image < 0 || fstat(image, &st) != 0) {
        return 1;
    }
    disk.sectors = st.st_size ? (uint64_t)st.st_size / BLOCKLOG_SECTOR
                              : BLOCKLOG_DISK((uint64_t)atoi(argv[2]), 1);
    if (st.st_size == 0 && (ftruncate(image, (off_t)(disk.sectors * BLOCKLOG_SECTOR)) != 0 ||
                            blocklog_format(&log, &disk, 0x1234567890) != 0)) {
        return 1;
    }
    int result = blocklog_open(&log, &disk);

    for (int i = 3; i < argc && result == 0; i++) {
        result = step(&log, &disk, argv[i]);
        if (result != 0) {
            fprintf(stderr, "mkdisk: %s: %s\n", argv[i], strerror(-result));
        }
    }
    return result != 0;
}
