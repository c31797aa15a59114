/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Log text in all commands: which ELF files are searched besides those of find.c (files and folders
 * that the user named, and the programs of the boards of this kymo), and the messages on a program
 * that has none. See log.h.
 */
#include "host/log/log.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/home.h"
#include "host/kymo.h"
#include "host/reader/kev.h"
#include "host/remote/elf_id.h"

enum { FOLDERS_MOST = 128 };

static void missing_report(void *arg, const struct log_missing *missing)
{
    bool has_other = missing->other[0] != '\0';

    (void)arg;
    kymo_error("%s: log text of a program of build id %s...: no ELF file of that build was "
               "found%s%s%s%s%s; set KYMO_ELF to the program or its folder; its text stays numbers",
               missing->capture, missing->id, has_other ? " (" : "", missing->other,
               has_other ? " is of " : "", missing->other_id, has_other ? ")" : "");
}

static struct log_programs log_program_list = {.missing = missing_report};

static const char *log_folder_list[FOLDERS_MOST];

static void folder_add(const char *board, const char *name)
{
    char path[3 * PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s", board, name);
    if (log_program_list.nlast < FOLDERS_MOST &&
        (log_folder_list[log_program_list.nlast] = strdup(path)) != NULL) {
        log_program_list.nlast++;
    }
}

/* Reports, once, what KYMO_ELF names and is not there. The rest of it is searched. */
static void environment_check(void)
{
    static bool done;
    const char *list = getenv("KYMO_ELF");
    char path[PATH_MAX];

    while (!done && list != NULL && *list != '\0') {
        size_t length = strcspn(list, ":");
        const char *why = NULL;

        if (length > 0 && length < sizeof(path)) {
            memcpy(path, list, length);
            path[length] = '\0';
            why = elf_id_trouble(path);
        }
        if (why != NULL) {
            kymo_error("KYMO_ELF %s: %s", path, why);
        }
        list += length + (list[length] == ':');
    }
    done = true;
}

/* A board's programs; those that run from flash are linked for their places in IMAGE.placed. */
static void board_add(const char *board)
{
    static const char placed[] = ".placed";
    DIR *dir = opendir(board);
    const struct dirent *entry;

    if (dir == NULL) {
        return;
    }
    folder_add(board, "programs");
    while ((entry = readdir(dir)) != NULL) {
        size_t length = strlen(entry->d_name);

        if (length > strlen(placed) &&
            strcmp(entry->d_name + length - strlen(placed), placed) == 0) {
            folder_add(board, entry->d_name);
        }
    }
    closedir(dir);
}

/* The boards' folders of programs, found when the first log event is met. */
static void boards_find(void)
{
    struct home home;
    DIR *dir = home_find(&home) ? opendir(home.boards) : NULL;
    const struct dirent *entry;
    char path[2 * PATH_MAX];

    environment_check();
    log_program_list.last = log_folder_list;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] != '.') {
            snprintf(path, sizeof(path), "%s/%s", home.boards, entry->d_name);
            board_add(path);
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
}

/* The reader's hook. */
static bool log_event_text(void *arg, const struct kev *kev, const struct kev_event *event,
                           char *text, size_t room)
{
    (void)arg;
    if (log_program_list.last == NULL) {
        boards_find();
    }
    return log_programs_text(&log_program_list, kev, event, text, room);
}

bool log_is_probe(const struct kev *kev, const struct kev_event *event)
{
    if (log_program_list.last == NULL) {
        boards_find();
    }
    return log_programs_probe(&log_program_list, kev, event);
}

bool log_text_but_probes(void *arg, const struct kev *kev, const struct kev_event *event,
                         char *text, size_t room)
{
    return !log_is_probe(kev, event) && log_event_text(arg, kev, event, text, room);
}

static void probes_of(void *session, const char *path)
{
    const char *slash = strrchr(path, '/');

    log_probes_add(session, path, slash == NULL ? path : slash + 1);
}

void log_probes_find(struct dt_session *session, const char *capture)
{
    environment_check();
    log_programs_each(&log_program_list, capture, probes_of, session);
}

/* The reader inside of libkev: host/kev/kev.mk gives it this name. */
extern kev_log_text_fn *kev_library_log_text;

void log_start(void)
{
    kev_log_text = kev_library_log_text = log_event_text;
}

void log_paths(const char *const *paths, unsigned n)
{
    log_program_list.first = paths;
    log_program_list.nfirst = n;
}
