/* SPDX-License-Identifier: BSD-2-Clause */
/* See helper_note.h. */
#include "host/remote/helper_note.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/dt/dt.h"

enum { TYPE_HELPER = 1 };

/* Adds the texts of a section's notes, each with a newline after it. */
static void texts_add(struct helper_note *to, Elf_Data *data, size_t *length)
{
    size_t at = 0, name, desc;
    GElf_Nhdr note;

    while (!to->why && at < data->d_size) {
        const char *bytes = data->d_buf;

        at = gelf_getnote(data, at, &note, &name, &desc);
        if (at == 0) {
            to->why = "it is cut off";
        } else if (note.n_namesz != sizeof("Kymo") ||
                   memcmp(bytes + name, "Kymo", sizeof("Kymo")) != 0 ||
                   note.n_type != TYPE_HELPER) {
            to->why = "it has a note of another kind";
        } else if (note.n_descsz > HELPER_TEXT_MOST - 2 - *length) {
            to->why = "it is longer than 64 KB";
        } else if (memchr(bytes + desc, '\0', note.n_descsz)) {
            to->why = "it is no text";
        } else {
            memcpy(to->text + *length, bytes + desc, note.n_descsz);
            *length += note.n_descsz;
            to->text[(*length)++] = '\n';
        }
    }
}

/* The build id that a process has in its memory. */
static bool id_find(struct helper_note *to, const GElf_Shdr *s, Elf_Data *data)
{
    size_t at = 0, name, desc;
    GElf_Nhdr note;

    while (s->sh_flags & SHF_ALLOC && (at = gelf_getnote(data, at, &note, &name, &desc)) > 0) {
        if (note.n_type == NT_GNU_BUILD_ID && note.n_descsz == ELF_ID_BYTES &&
            note.n_namesz == sizeof("GNU") &&
            memcmp((char *)data->d_buf + name, "GNU", sizeof("GNU")) == 0) {
            memcpy(to->id.bytes, (char *)data->d_buf + desc, ELF_ID_BYTES);
            to->id_at = s->sh_addr + desc;
            return true;
        }
    }
    return false;
}

void helper_note_of(Elf *elf, struct helper_note *to)
{
    Elf_Scn *section = NULL;
    GElf_Shdr s;
    size_t names, length = 0;
    bool has_id = false;

    *to = (struct helper_note){.text = calloc(1, HELPER_TEXT_MOST)};
    bool read = to->text && elf_getshdrstrndx(elf, &names) == 0;
    while (read && !to->why && (section = elf_nextscn(elf, section)) != NULL) {
        Elf_Data *data = gelf_getshdr(section, &s) ? elf_getdata(section, NULL) : NULL;
        const char *name = data ? elf_strptr(elf, names, s.sh_name) : NULL;

        if (!name || s.sh_type != SHT_NOTE || !data->d_buf) {
            continue;
        }
        if (strcmp(name, ".note.kymo_helper") == 0) {
            texts_add(to, data, &length);
        } else {
            has_id |= !has_id && id_find(to, &s, data);
        }
    }
    if (length > 0 && !to->why && !has_id) {
        to->why = "the program has no build id in its memory, by which it is recognized";
    }
    if (length == 0 || to->why) {
        free(to->text);
        to->text = NULL;
    }
}

void helper_note_add(struct dt_session *session, const char *path, const char *program)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct helper_note note = {.text = NULL};
    Elf *elf;

    if (fd < 0 || elf_version(EV_CURRENT) == EV_NONE) {
        return;
    }
    elf = elf_begin(fd, ELF_C_READ, NULL);
    if (elf && elf_kind(elf) == ELF_K_ELF) {
        helper_note_of(elf, &note);
    }
    if (note.why || note.text) {
        dt_session_helper(session, &(struct dt_helper_source){.program = program,
                                                              .path = path,
                                                              .text = note.text,
                                                              .why = note.why,
                                                              .id = note.id.bytes,
                                                              .id_at = note.id_at});
    }
    free(note.text);
    elf_end(elf);
    close(fd);
}
