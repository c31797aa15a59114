/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a newc cpio archive; see cpio.h. A header is "070701" and 13 numbers of 8 hex digits; name
 * and data are padded to 4 bytes. Tested by test/kernel/program/readers_test.c, damaged archives
 * included.
 */
#include "kernel/program/cpio.h"

#include "kernel/base/string.h"

#define HEADER_LEN 110
#define FIELD_FILESIZE 6
#define FIELD_NAMESIZE 11
#define END_NAME "TRAILER!!!"

static bool hex_field(const uint8_t *header, unsigned field, size_t *value)
{
    const uint8_t *p = header + 6 + field * 8;
    size_t v = 0;

    for (unsigned i = 0; i < 8; i++) {
        uint8_t c = p[i];
        unsigned digit;
        if (c >= '0' && c <= '9') {
            digit = c - '0';
        } else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
            digit = (c | 0x20u) - 'a' + 10;
        } else {
            return false;
        }
        v = v << 4 | digit;
    }
    *value = v;
    return true;
}

/* Advances *offset by len, then to a multiple of 4; false if that leaves the archive. The padding
 * of the last file may be missing. */
static bool cpio_skip(size_t *offset, size_t len, size_t end)
{
    if (len > end - *offset) {
        return false;
    }
    *offset += len;
    size_t padding = -*offset & 3;
    *offset += padding < end - *offset ? padding : end - *offset;
    return true;
}

bool cpio_next(const uint8_t *archive, size_t len, size_t *offset, struct cpio_file *file)
{
    size_t at = *offset, file_len, name_len;

    if (at > len || len - at < HEADER_LEN || memcmp(archive + at, "070701", 6) != 0) {
        return false;
    }
    if (!hex_field(archive + at, FIELD_FILESIZE, &file_len) ||
        !hex_field(archive + at, FIELD_NAMESIZE, &name_len)) {
        return false;
    }
    const char *name = (const char *)archive + at + HEADER_LEN;
    if (name_len == 0 || name_len > len - at - HEADER_LEN || name[name_len - 1] != '\0' ||
        !cpio_skip(&at, HEADER_LEN + name_len, len)) {
        return false;
    }
    file->name = name[0] == '.' && name_len > 2 && name[1] == '/' ? name + 2 : name;
    file->data = archive + at;
    file->len = file_len;
    if (!cpio_skip(&at, file_len, len) || strcmp(name, END_NAME) == 0) {
        return false;
    }
    *offset = at;
    return true;
}

bool cpio_find(const uint8_t *archive, size_t len, const char *name, struct cpio_file *file)
{
    size_t offset = 0;

    while (cpio_next(archive, len, &offset, file)) {
        if (strcmp(file->name, name) == 0) {
            return true;
        }
    }
    return false;
}
