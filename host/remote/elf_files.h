/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ELFs of a kernel of which the build id is known: its own, and the programs of the boot image
 * in it, with the symbols and DWARF of their unstripped ELFs where those are at hand.
 */
#ifndef HOST_REMOTE_ELF_FILES_H
#define HOST_REMOTE_ELF_FILES_H

#include <stdbool.h>
#include <stdint.h>

struct dt_session;

/* An ELF file of the kernel or of a program of its boot image. */
struct elf_found {
    const char *name;        /* "kernel", or the program's */
    const uint8_t *build_id; /* ELF_ID_BYTES; NULL: it has none */
    const char *path;        /* NULL: no file, but the boot image's copy, which has no DWARF */
};

struct elf_files {
    const uint8_t *build_id; /* ELF_ID_BYTES */
    const char *board;
    /* For messages: "dtrace", "the target", "--elf". */
    const char *command, *whose, *option;
    /* Called for each ELF file after it was added to the session; NULL: nobody asks. */
    void (*found)(void *arg, const struct elf_found *);
    void *arg;
};

/* To the session: from files and folders that the user named, then from the source tree that this
 * program lies in. False: a file that was named is none of them, which has been said. That there is
 * a message is printed for no ELF at all, too, unless it is to be quiet. */
bool elf_files_add(const struct elf_files *, struct dt_session *, const char *const *paths,
                   unsigned n, bool quiet);

#endif
