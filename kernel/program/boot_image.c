/* SPDX-License-Identifier: BSD-2-Clause */
/* The boot image that is linked into the kernel (scripts/image.S), and its files by name. Any
 * context: the image never changes. */
#include "kernel/program/program.h"

extern const uint8_t boot_image_start[], boot_image_end[];

bool boot_file(const char *name, struct cpio_file *file)
{
    return cpio_find(boot_image_start, (size_t)(boot_image_end - boot_image_start), name, file);
}
