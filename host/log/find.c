/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the program of a log event by the first word of its build id, among ELF files and folders:
 * those that the caller names, KYMO_ELF, the folder of the capture and its folder `programs`. A
 * program's formats are copied once. The commands and libkev use it. See log.h.
 */
#include "host/log/elf.h"

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

enum { PROGRAMS_MOST = 1024, FILES_MOST = 4096 };

/* The formats of a build id. */
struct log_program {
    uint32_t id;
    uint8_t *bytes; /* of .kymo_log, with a NUL after; NULL: no ELF file was found */
    size_t size;
};

/* ---- ELF files ----------------------------------------------------------------------- */

struct search {
    struct log_program *program; /* NULL: all files are wanted */
    void (*each)(void *arg, const char *path);
    void *arg;
    char other[PATH_MAX]; /* an ELF file with formats, but another build id */
    char other_id[ELF_ID_TEXT];
};

static void formats_copy(struct log_program *program, Elf *elf, const char *path,
                         struct search *search)
{
    struct log_formats formats;

    if (!log_formats_of(elf, &formats)) {
        return;
    }
    if (formats.id_word != program->id) {
        if (search->other[0] == '\0') { /* the first one is nearest to what the user meant */
            snprintf(search->other, sizeof(search->other), "%s", path);
            elf_id_text(formats.id.bytes, search->other_id);
        }
        return;
    }
    program->bytes = calloc(1, formats.size + 1);
    if (program->bytes != NULL) {
        memcpy(program->bytes, formats.bytes, formats.size);
        program->size = formats.size;
    }
}

static bool is_found(const struct search *search)
{
    return search->program != NULL && search->program->bytes != NULL;
}

static void file_try(struct search *search, const char *path)
{
    if (search->program == NULL) {
        search->each(search->arg, path);
        return;
    }
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
    DIR *dir = is_found(search) ? NULL : opendir(folder);
    const struct dirent *entry;
    char path[PATH_MAX];
    unsigned n = 0;

    if (dir == NULL) {
        if (!is_found(search)) {
            file_try(search, folder);
        }
        return;
    }
    while (!is_found(search) && n++ < FILES_MOST && (entry = readdir(dir)) != NULL) {
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

/* Looks where the user said, in KYMO_ELF, and in the capture's folder (NULL: there is none). */
static void places_try(struct search *search, const struct log_programs *all, const char *capture)
{
    const char *slash = capture == NULL ? NULL : strrchr(capture, '/');
    char folder[PATH_MAX] = ".";

    for (unsigned i = 0; i < all->nfirst; i++) {
        place_try(search, all->first[i]);
    }
    list_try(search, all->list);
    list_try(search, getenv("KYMO_ELF"));
    if (slash != NULL && (size_t)(slash - capture) < sizeof(folder)) {
        snprintf(folder, sizeof(folder), "%.*s", (int)(slash - capture) + (slash == capture),
                 capture);
    }
    if (capture != NULL) {
        place_try(search, folder);
    }
}

void log_programs_each(const struct log_programs *all, const char *capture,
                       void (*fn)(void *arg, const char *path), void *arg)
{
    struct search search = {.each = fn, .arg = arg};

    places_try(&search, all, capture);
}

static void program_search(const struct log_programs *all, struct log_program *program,
                           const struct kev *kev)
{
    struct search search = {.program = program};
    const char *capture = kev_info(kev)->path;

    places_try(&search, all, capture == NULL ? "./" : capture);
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

/* Returns false if no ELF file of the event's program has its place. */
static bool log_site_of(struct log_programs *programs, const struct kev *kev,
                        const struct kev_event *event, struct log_site *site)
{
    const struct log_program *program = program_of(programs, kev_word(event, 1), kev);

    return program != NULL && program->bytes != NULL &&
           log_site_read(program->bytes, program->size, kev_word(event, 0) - KYMO_LOG_BASE, site);
}

bool log_programs_probe(struct log_programs *programs, const struct kev *kev,
                        const struct kev_event *event)
{
    struct log_site site;

    return log_site_of(programs, kev, event, &site) && log_level_is_probe(site.level);
}

bool log_programs_text(void *programs, const struct kev *kev, const struct kev_event *event,
                       char *text, size_t room)
{
    uint32_t words[KYMO_LOG_WORDS];
    unsigned n = event->nwords < KYMO_LOG_WORDS ? event->nwords : KYMO_LOG_WORDS;
    struct log_site site;

    if (!log_site_of(programs, kev, event, &site)) {
        return false;
    }
    for (unsigned i = 2; i < n; i++) {
        words[i - 2] = kev_word(event, i);
    }
    log_format(&site, words, n - 2, text, room);
    return true;
}
