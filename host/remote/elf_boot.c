/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The boot image in a kernel's ELF: a newc cpio archive in the section .boot_image, as
 * scripts/mkcpio.c writes it. Nothing of it is believed.
 */
#include "host/remote/elf_id.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEAD = 110, NAME_SIZE_AT = 94, FILE_SIZE_AT = 54 };

static Elf_Data *section_of(Elf *elf, const char *name)
{
    Elf_Scn *section = NULL;
    size_t names;
    GElf_Shdr s;

    if (!elf || elf_getshdrstrndx(elf, &names) != 0) {
        return NULL;
    }
    while ((section = elf_nextscn(elf, section)) != NULL) {
        const char *its = gelf_getshdr(section, &s) ? elf_strptr(elf, names, s.sh_name) : NULL;
        if (its && strcmp(its, name) == 0) {
            return elf_getdata(section, NULL);
        }
    }
    return NULL;
}

/* Eight hexadecimal digits of the head. */
static size_t elf_boot_hex_number(const char *at)
{
    char text[9] = "";

    memcpy(text, at, 8);
    return strtoul(text, NULL, 16);
}

static size_t elf_boot_padded_size(size_t n)
{
    return (n + 3) & ~(size_t)3;
}

/* Returns false if the file is not whole. */
static bool next_file(const char **at, size_t *left, const char **name, const char **data,
                      size_t *bytes)
{
    if (*left < HEAD || memcmp(*at, "070701", 6) != 0) {
        return false;
    }
    size_t name_size = elf_boot_hex_number(*at + NAME_SIZE_AT);
    *bytes = elf_boot_hex_number(*at + FILE_SIZE_AT);
    if (name_size == 0 || name_size > *left - HEAD || (*at)[HEAD + name_size - 1] ||
        elf_boot_padded_size(HEAD + name_size) > *left ||
        *bytes > *left - elf_boot_padded_size(HEAD + name_size)) {
        return false;
    }
    *name = *at + HEAD;
    *data = *at + elf_boot_padded_size(HEAD + name_size);
    size_t all = elf_boot_padded_size(HEAD + name_size) + elf_boot_padded_size(*bytes);
    *at += all < *left ? all : *left;
    *left -= all < *left ? all : *left;
    return true;
}

bool elf_boot_image(const char *path,
                    void (*fn)(void *arg, const char *name, const void *data, size_t bytes),
                    void *arg)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    Elf *elf =
        fd >= 0 && elf_version(EV_CURRENT) != EV_NONE ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
    Elf_Data *image = section_of(elf, ".boot_image");
    const char *at = image ? image->d_buf : NULL, *name = "", *data;
    size_t left = at ? image->d_size : 0, bytes;

    while (strcmp(name, "TRAILER!!!") != 0 && next_file(&at, &left, &name, &data, &bytes)) {
        fn(arg, name, data, bytes);
    }
    bool whole = strcmp(name, "TRAILER!!!") == 0;
    elf_end(elf);
    if (fd >= 0) {
        close(fd);
    }
    return whole;
}
