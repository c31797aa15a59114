/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The helper that a program brings in its ELF file: the notes of the section .note.kymo_helper
 * (lib/include/kymo_helper.h). The file is not trusted. Proof: test/host/remote/helper_note_test.c.
 */
#ifndef HOST_REMOTE_HELPER_NOTE_H
#define HOST_REMOTE_HELPER_NOTE_H

#include <gelf.h>
#include <stdint.h>

#include "host/remote/elf_id.h"

enum { HELPER_TEXT_MOST = 64 * 1024 }; /* bytes of all the notes of a program */

struct helper_note {
    char *text; /* D, malloc'ed; NULL: it has none */
    struct elf_id id;
    uint64_t id_at;  /* where the process has the build id's bytes */
    const char *why; /* why what is there is no helper; NULL: nothing is wrong */
};

void helper_note_of(Elf *, struct helper_note *);

struct dt_session;
/* Gives the session the helper of an ELF file, if it has one, and prints what is wrong with it. */
void helper_note_add(struct dt_session *, const char *path, const char *program);

#endif
