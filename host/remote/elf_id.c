/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Build ids: of an ELF, and which ELF of a folder has one.
 */
#include "host/remote/elf_id.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The note NT_GNU_BUILD_ID among a segment's. */
static bool find_note(Elf_Data *data, uint8_t id[ELF_ID_BYTES])
{
    size_t at = 0, name, desc;
    GElf_Nhdr note;

    while (data && (at = gelf_getnote(data, at, &note, &name, &desc)) > 0) {
        if (note.n_type == NT_GNU_BUILD_ID && note.n_descsz == ELF_ID_BYTES &&
            note.n_namesz == sizeof("GNU") &&
            memcmp((char *)data->d_buf + name, "GNU", sizeof("GNU")) == 0) {
            memcpy(id, (char *)data->d_buf + desc, ELF_ID_BYTES);
            return true;
        }
    }
    return false;
}

/* By sections: what `strip` makes still has them, and some programs have no PT_NOTE. */
bool elf_id_of(Elf *elf, struct elf_id *id)
{
    Elf_Scn *section = NULL;
    GElf_Ehdr header;
    GElf_Shdr s;

    if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header)) {
        return false;
    }
    id->machine = header.e_machine;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        if (gelf_getshdr(section, &s) && s.sh_type == SHT_NOTE &&
            find_note(elf_getdata(section, NULL), id->bytes)) {
            return true;
        }
    }
    return false;
}

static bool is_elf(Elf *elf, struct elf_id *id)
{
    (void)id;
    return elf_kind(elf) == ELF_K_ELF;
}

static bool file_is(const char *path, bool (*is)(Elf *, struct elf_id *), struct elf_id *id)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    Elf *elf;

    if (fd < 0 || elf_version(EV_CURRENT) == EV_NONE) {
        return false;
    }
    errno = 0;
    elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    bool ok = elf && is(elf, id), starved = !ok && errno == ENOMEM;
    elf_end(elf);
    close(fd);
    errno = starved ? ENOMEM : 0; /* it may be an ELF file all the same */
    return ok;
}

const char elf_id_missing[] =
    "no build id, by which ELF files are recognized: link it with -Wl,--build-id=sha1";

const char *elf_id_trouble(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st = {.st_mode = 0};

    if (fd < 0) {
        return strerror(errno);
    }
    const bool known = fstat(fd, &st) == 0;
    close(fd);
    return known && (S_ISDIR(st.st_mode) || (S_ISREG(st.st_mode) && file_is(path, is_elf, NULL)))
               ? NULL
               : "no ELF file: an ELF file or a folder of them is wanted";
}

bool elf_id_read(const char *path, struct elf_id *id)
{
    return file_is(path, elf_id_of, id);
}

void elf_id_text(const uint8_t id[ELF_ID_BYTES], char text[ELF_ID_TEXT])
{
    for (unsigned i = 0; i < ELF_ID_BYTES; i++) {
        snprintf(text + (size_t)2 * i, 3, "%02x", id[i]);
    }
}

static bool is_elf_name(const char *name)
{
    size_t n = strlen(name);

    return n > 4 && strcmp(name + n - 4, ".elf") == 0;
}

/* Images that only tests boot lie in a folder of their own beside a board's others. */
static bool is_searched(const char *name, const char *board)
{
    return strcmp(name, "test-images") == 0 ||
           (board && *board && strncmp(name, board, strlen(board)) == 0);
}

char *elf_id_find(const uint8_t id[ELF_ID_BYTES], const char *folder, const char *board)
{
    DIR *dir = opendir(folder);
    char path[PATH_MAX], *found = NULL;
    bool starved = !dir && errno == ENOMEM;
    struct elf_id theirs;

    for (struct dirent *e; dir && !found && !starved && (e = readdir(dir)) != NULL;) {
        errno = 0;
        if (snprintf(path, sizeof(path), "%s/%s", folder, e->d_name) >= (int)sizeof(path)) {
            continue;
        }
        if (is_elf_name(e->d_name)) {
            bool same = elf_id_read(path, &theirs) && memcmp(theirs.bytes, id, ELF_ID_BYTES) == 0;
            found = same ? strdup(path) : NULL;
        } else if (is_searched(e->d_name, board)) {
            found = elf_id_find(id, path, NULL);
        }
        starved = !found && errno == ENOMEM;
    }
    if (dir) {
        closedir(dir);
    }
    errno = starved ? ENOMEM : 0;
    return found;
}
