/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the program of a log event by the first word of its build id, among ELF files and folders:
 * those that the caller names, KYMO_ELF, the folder of the capture and its folder `programs`. A
 * program's formats are copied once. The commands and libkev use it. See log.h.
 */
#include "host/log/log.h"

#include <dirent.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/sys/log.h"
#include "host/reader/kev.h"
#include "host/remote/elf_id.h"

enum { PROGRAMS_MOST = 1024, FILES_MOST = 4096 };

/* The formats of a build id. */
struct log_program {
    uint32_t id;
    uint8_t *bytes; /* of .kymo_log, with a NUL behind; NULL: no ELF file was found */
    size_t size;
};

/* ---- ELF files ----------------------------------------------------------------------- */

struct search {
    struct log_program *program;
    char other[PATH_MAX]; /* an ELF file with formats, but another build id */
    char other_id[ELF_ID_TEXT];
};

static uint32_t id_word(const struct elf_id *id)
{
    return (uint32_t)id->bytes[0] | (uint32_t)id->bytes[1] << 8 | (uint32_t)id->bytes[2] << 16 |
           (uint32_t)id->bytes[3] << 24;
}

static bool is_formats(Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
    size_t names;
    const char *name;

    if (elf_getshdrstrndx(elf, &names) != 0) {
        return false;
    }
    name = elf_strptr(elf, names, header->sh_name);
    return name != NULL && strcmp(name, ".kymo_log") == 0 && header->sh_addr == KYMO_LOG_BASE &&
           header->sh_type != SHT_NOBITS && elf_getdata(section, NULL) != NULL;
}

static void formats_copy(struct log_program *program, Elf *elf, const char *path,
                         struct search *search)
{
    struct elf_id id;
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    while ((section = elf_nextscn(elf, section)) != NULL) {
        if (gelf_getshdr(section, &header) == NULL || !is_formats(elf, section, &header) ||
            !elf_id_of(elf, &id)) {
            continue;
        }
        if (id_word(&id) != program->id) {
            if (search->other[0] == '\0') { /* the first one is nearest to what the user meant */
                snprintf(search->other, sizeof(search->other), "%s", path);
                elf_id_text(id.bytes, search->other_id);
            }
            return;
        }
        const Elf_Data *data = elf_getdata(section, NULL);

        program->bytes = calloc(1, data->d_size + 1);
        if (program->bytes != NULL && data->d_buf != NULL) {
            memcpy(program->bytes, data->d_buf, data->d_size);
            program->size = data->d_size;
        }
        return;
    }
}

static void file_try(struct search *search, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    Elf *elf;

    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
        elf_version(EV_CURRENT) == EV_NONE) {
        close(fd);
        return;
    }
    elf = elf_begin(fd, ELF_C_READ, NULL);
    if (elf_kind(elf) == ELF_K_ELF) {
        formats_copy(search->program, elf, path, search);
    }
    elf_end(elf);
    close(fd);
}

/* The files of a folder; `folder` may be a file. */
static void folder_try(struct search *search, const char *folder)
{
    DIR *dir = search->program->bytes == NULL ? opendir(folder) : NULL;
    const struct dirent *entry;
    char path[PATH_MAX];
    unsigned n = 0;

    if (dir == NULL) {
        if (search->program->bytes == NULL) {
            file_try(search, folder);
        }
        return;
    }
    while (search->program->bytes == NULL && n++ < FILES_MOST && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] != '.' &&
            snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) < (int)sizeof(path)) {
            file_try(search, path);
        }
    }
    closedir(dir);
}

/* A folder, and its folder `programs`. */
static void place_try(struct search *search, const char *folder)
{
    char path[PATH_MAX];

    folder_try(search, folder);
    if (snprintf(path, sizeof(path), "%s/programs", folder) < (int)sizeof(path)) {
        folder_try(search, path);
    }
}

/* Files and folders, with colons between them. */
static void list_try(struct search *search, const char *list)
{
    char path[PATH_MAX];

    while (list != NULL && *list != '\0') {
        size_t length = strcspn(list, ":");

        if (length > 0 && length < sizeof(path)) {
            memcpy(path, list, length);
            path[length] = '\0';
            place_try(search, path);
        }
        list += length + (list[length] == ':');
    }
}

static void program_search(const struct log_programs *all, struct log_program *program,
                           const struct kev *kev)
{
    struct search search = {.program = program};
    const char *capture = kev_info(kev)->path;
    const char *slash = capture == NULL ? NULL : strrchr(capture, '/');
    char folder[PATH_MAX] = ".";

    for (unsigned i = 0; i < all->nfirst; i++) {
        place_try(&search, all->first[i]);
    }
    list_try(&search, all->list);
    list_try(&search, getenv("KYMO_ELF"));
    if (slash != NULL && (size_t)(slash - capture) < sizeof(folder)) {
        snprintf(folder, sizeof(folder), "%.*s", (int)(slash - capture) + (slash == capture),
                 capture);
    }
    place_try(&search, folder);
    for (unsigned i = 0; i < all->nlast; i++) {
        folder_try(&search, all->last[i]);
    }
    if (program->bytes == NULL && all->missing != NULL) {
        struct log_missing missing = {.capture = capture == NULL ? "capture" : capture,
                                      .other = search.other,
                                      .other_id = search.other_id};

        snprintf(missing.id, sizeof(missing.id), "%02x%02x%02x%02x", program->id & 0xff,
                 program->id >> 8 & 0xff, program->id >> 16 & 0xff, program->id >> 24);
        all->missing(all->arg, &missing);
    }
}

/* The program of that build id; NULL: there is no memory, or too many. */
static const struct log_program *program_of(struct log_programs *all, uint32_t id,
                                            const struct kev *kev)
{
    for (unsigned i = 0; i < all->n; i++) {
        if (all->programs[i].id == id) {
            return &all->programs[i];
        }
    }
    if (all->programs == NULL) {
        all->programs = calloc(PROGRAMS_MOST, sizeof(*all->programs));
    }
    if (all->programs == NULL || all->n == PROGRAMS_MOST) {
        return NULL;
    }
    all->programs[all->n].id = id;
    program_search(all, &all->programs[all->n], kev);
    return &all->programs[all->n++];
}

void log_programs_free(struct log_programs *all)
{
    for (unsigned i = 0; i < all->n; i++) {
        free(all->programs[i].bytes);
    }
    free(all->programs);
    all->programs = NULL;
    all->n = 0;
}

/* ---- events -------------------------------------------------------------------------- */

/* What the ELF file has at an offset of its formats. Returns false if that is no site. */
static bool site_read(const struct log_program *program, uint32_t offset, struct log_site *site)
{
    struct kymo_log_site raw;
    const char *text = (const char *)program->bytes + offset + sizeof(raw);

    if (offset % 4 != 0 || offset > program->size || program->size - offset <= sizeof(raw)) {
        return false;
    }
    memcpy(&raw, program->bytes + offset, sizeof(raw));
    if (raw.file_bytes == 0 || raw.file_bytes >= program->size - offset - sizeof(raw) ||
        text[raw.file_bytes - 1] != '\0' || raw.types[sizeof(raw.types) - 1] != '\0' ||
        strspn(raw.types, "iuIUfspP") != strlen(raw.types)) {
        return false;
    }
    *site = (struct log_site){.line = raw.line,
                              .level = raw.level,
                              .types = (const char *)program->bytes + offset +
                                       offsetof(struct kymo_log_site, types),
                              .file = text,
                              .format = text + raw.file_bytes};
    return true;
}

bool log_programs_text(void *programs, const struct kev *kev, const struct kev_event *event,
                       char *text, size_t room)
{
    uint32_t words[KYMO_LOG_WORDS], id = kev_word(event, 1);
    unsigned n = event->nwords < KYMO_LOG_WORDS ? event->nwords : KYMO_LOG_WORDS;
    const struct log_program *program = program_of(programs, id, kev);
    struct log_site site;

    if (program == NULL || program->bytes == NULL ||
        !site_read(program, kev_word(event, 0) - KYMO_LOG_BASE, &site)) {
        return false;
    }
    for (unsigned i = 2; i < n; i++) {
        words[i - 2] = kev_word(event, i);
    }
    log_format(&site, words, n - 2, text, room);
    return true;
}
