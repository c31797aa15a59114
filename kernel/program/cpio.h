/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a newc cpio archive in memory: the boot image. Any context, no lock, no memory of its own.
 * Treats the archive as untrusted: whatever it holds, nothing outside [archive, archive + len) is
 * read.
 */
#ifndef KERNEL_PROGRAM_CPIO_H
#define KERNEL_PROGRAM_CPIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cpio_file {
    const char *name; /* ends with NUL; a leading "./" is left out */
    const uint8_t *data;
    size_t len;
};

/* The file at *offset (start with 0), which moves on. False at the end, or where it is damaged. */
bool cpio_next(const uint8_t *archive, size_t len, size_t *offset, struct cpio_file *file);
bool cpio_find(const uint8_t *archive, size_t len, const char *name, struct cpio_file *file);

#endif
