/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a newc cpio archive in memory: the boot image. Any context, no lock, no memory of its own.
 * The archive is untrusted: nothing outside [archive, archive + len) is ever read.
 */
#ifndef KERNEL_PROGRAM_CPIO_H
#define KERNEL_PROGRAM_CPIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cpio_file {
    const char *name; /* ends with NUL; without a leading "./" */
    const uint8_t *data;
    size_t len;
};

/* Returns the file at *offset (start with 0) and advances *offset. Returns false at the end, or
 * where the archive is damaged. */
bool cpio_next(const uint8_t *archive, size_t len, size_t *offset, struct cpio_file *file);
bool cpio_find(const uint8_t *archive, size_t len, const char *name, struct cpio_file *file);

#endif
