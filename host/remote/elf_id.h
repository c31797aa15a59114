/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ELFs by their build ids, and the programs of the boot image that a kernel's ELF carries. Internal
 * to host/remote. Proved by test/host/remote/board_test.c.
 */
#ifndef HOST_REMOTE_ELF_ID_H
#define HOST_REMOTE_ELF_ID_H

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

enum { ELF_ID_BYTES = 20, ELF_ID_TEXT = 2 * ELF_ID_BYTES + 1 };

struct elf_id {
    uint8_t bytes[ELF_ID_BYTES];
    unsigned machine; /* e_machine */
};

/* Returns why the path, which the user named, is neither an ELF file nor a folder that can be read;
 * NULL: it is one. All commands print it as COMMAND: OPTION PATH: WHY. */
const char *elf_id_trouble(const char *path);
/* The end of a message on an ELF file without one. */
extern const char elf_id_missing[];
/* Returns false if it is not an ELF file, or has no build id; or, with errno ENOMEM, if there is no
 * memory to tell. */
bool elf_id_read(const char *path, struct elf_id *);
bool elf_id_of(Elf *, struct elf_id *);
void elf_id_text(const uint8_t id[ELF_ID_BYTES], char text[ELF_ID_TEXT]);

/* The first ELF with this build id among the *.elf of `folder` and of its folders whose names begin
 * with `board`, and of the folder test-images in each. malloc'ed; NULL: there is none, or,
 * with errno ENOMEM, no memory. */
char *elf_id_find(const uint8_t id[ELF_ID_BYTES], const char *folder, const char *board);

/* Calls fn for each file of the boot image in a kernel's ELF; false: there is none, or it is no
 * newc archive from some place on. */
bool elf_boot_image(const char *path,
                    void (*fn)(void *arg, const char *name, const void *data, size_t bytes),
                    void *arg);

#endif
