/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the program of a log event by the first word of its build id, among: files and folders that
 * the user named (kymo print --symbols, KYMO_ELF), the folder of the capture and its folder
 * `programs`, and the programs of the boards of this kymo. A program's formats are copied once. See
 * log.h.
 */
#include "host/log/log.h"

#include <dirent.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/sys/log.h"
#include "host/home.h"
#include "host/kymo.h"
#include "host/reader/kev.h"
#include "host/remote/elf_id.h"

enum { PROGRAMS_MOST = 1024, FILES_MOST = 4096 };

/* The formats of a build id. */
struct program {
    uint32_t id;
    uint8_t *bytes; /* of .kymo_log, with a NUL behind; NULL: no ELF file was found */
    size_t size;
};

static struct program *programs;
static unsigned nprograms;
static const char *const *named;
static unsigned nnamed;

/* ---- ELF files ----------------------------------------------------------------------- */

struct search {
    struct program *program;
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

static void formats_copy(struct program *program, Elf *elf, const char *path, struct search *search)
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

static void home_try(struct search *search)
{
    struct home home;
    DIR *dir = home_find(&home) ? opendir(home.boards) : NULL;
    const struct dirent *entry;
    char path[2 * PATH_MAX];

    while (dir != NULL && search->program->bytes == NULL && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] != '.') {
            snprintf(path, sizeof(path), "%s/%s/programs", home.boards, entry->d_name);
            folder_try(search, path);
        }
    }
    if (dir != NULL) {
        closedir(dir);
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

static void program_search(struct program *program, const struct kev *kev)
{
    struct search search = {.program = program};
    const char *capture = kev_info(kev)->path;
    const char *slash = capture == NULL ? NULL : strrchr(capture, '/');
    char folder[PATH_MAX] = ".";

    for (unsigned i = 0; i < nnamed; i++) {
        place_try(&search, named[i]);
    }
    list_try(&search, getenv("KYMO_ELF"));
    if (slash != NULL && (size_t)(slash - capture) < sizeof(folder)) {
        snprintf(folder, sizeof(folder), "%.*s", (int)(slash - capture) + (slash == capture),
                 capture);
    }
    place_try(&search, folder);
    home_try(&search);
    if (program->bytes == NULL) {
        bool has_other = search.other[0] != '\0';

        kymo_error("%s: log text of a program of build id %02x%02x%02x%02x...: no ELF file of "
                   "that build was found%s%s%s%s%s; set KYMO_ELF to the program or its folder; its "
                   "text stays numbers",
                   capture == NULL ? "capture" : capture, program->id & 0xff,
                   program->id >> 8 & 0xff, program->id >> 16 & 0xff, program->id >> 24,
                   has_other ? " (" : "", search.other, has_other ? " is of " : "", search.other_id,
                   has_other ? ")" : "");
    }
}

/* The program of that build id; NULL: there is no memory, or too many. */
static const struct program *program_of(uint32_t id, const struct kev *kev)
{
    for (unsigned i = 0; i < nprograms; i++) {
        if (programs[i].id == id) {
            return &programs[i];
        }
    }
    programs = programs == NULL ? calloc(PROGRAMS_MOST, sizeof(*programs)) : programs;
    if (programs == NULL || nprograms == PROGRAMS_MOST) {
        return NULL;
    }
    programs[nprograms].id = id;
    program_search(&programs[nprograms], kev);
    return &programs[nprograms++];
}

/* ---- events -------------------------------------------------------------------------- */

/* What the ELF file has at an offset of its formats. Returns false if that is no site. */
static bool site_read(const struct program *program, uint32_t offset, struct log_site *site)
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

/* The reader's hook. */
static bool event_text(const struct kev *kev, const struct kev_event *event, char *text,
                       size_t room)
{
    uint32_t words[KYMO_LOG_WORDS], id = kev_word(event, 1);
    unsigned n = event->nwords < KYMO_LOG_WORDS ? event->nwords : KYMO_LOG_WORDS;
    const struct program *program = program_of(id, kev);
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

/* The reader inside of libkev: host/kev/kev.mk gives it this name. */
extern kev_log_text_fn *kev_library_log_text;

void log_start(void)
{
    kev_log_text = kev_library_log_text = event_text;
}

void log_paths(const char *const *paths, unsigned n)
{
    named = paths;
    nnamed = n;
}
