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

struct elf_files {
    const uint8_t *build_id; /* ELF_ID_BYTES */
    const char *board;
    /* For messages: "dtrace", "the target", "--elf". */
    const char *command, *whose, *option;
};

/* To the session: from files and folders that the user named, then from the source tree that this
 * program lies in. False: a file that was named is none of them, which has been said. That there is
 * no ELF at all is said too, unless it is to be quiet. */
bool elf_files_add(const struct elf_files *, struct dt_session *, const char *const *paths,
                   unsigned n, bool quiet);

#endif
