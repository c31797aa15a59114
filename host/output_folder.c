/* SPDX-License-Identifier: BSD-2-Clause */
/* See output_folder.h. */
#include "host/output_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/kymo.h"
#include "host/output.h"

static bool is_empty(const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    unsigned n = 0;

    if (dir == NULL) {
        return false;
    }
    while ((entry = readdir(dir)) != NULL) {
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    }
    closedir(dir);
    return n == 0;
}

/* A signal that ends the command removes what is noted, in this order, once output.c has removed
 * the parts of files. The signals are held. */
static void folders_note(struct output_folder *folder)
{
    unsigned n = 0;

    for (unsigned i = 0; i < folder->nfiles; i++) {
        folder->noted[n++] = folder->files[i];
    }
    for (unsigned i = 0; i < folder->ninner; i++) {
        folder->noted[n++] = folder->inner[i];
    }
    folder->noted[n++] = folder->part;
    folder->noted[n] = NULL;
    output_remove_folders(folder->noted);
}

static void forget(struct output_folder *folder)
{
    output_remove_folders(NULL);
    while (folder->ninner > 0) {
        free(folder->inner[--folder->ninner]);
    }
    while (folder->nfiles > 0) {
        free(folder->files[--folder->nfiles]);
    }
    free(folder->part);
    folder->part = NULL;
}

int output_folder_open(struct output_folder *folder, const char *name)
{
    size_t length = strlen(name);
    struct stat st;
    mode_t mask = umask(0);
    sigset_t before;

    umask(mask);
    *folder = (struct output_folder){.name = name};
    while (length > 1 && name[length - 1] == '/') {
        length--;
    }
    if (lstat(name, &st) == 0 && !(S_ISDIR(st.st_mode) && is_empty(name))) {
        kymo_error("%s: is there already; name another folder, or remove it", name);
        return -1;
    }
    if (asprintf(&folder->part, "%.*s.part.XXXXXX", (int)length, name) < 0) {
        folder->part = NULL;
        kymo_error("out of memory");
        return -1;
    }
    output_hold_signals(&before);
    if (mkdtemp(folder->part) == NULL) {
        kymo_error("%s: %s", name, strerror(errno));
        free(folder->part);
        folder->part = NULL;
    } else {
        folders_note(folder);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (folder->part != NULL && chmod(folder->part, 0777 & ~mask) != 0) {
        kymo_error("%s: %s", name, strerror(errno));
        output_folder_abandon(folder);
    }
    return folder->part == NULL ? -1 : 0;
}

char *output_folder_path(const struct output_folder *folder, const char *name)
{
    char *path;

    if (asprintf(&path, "%s/%s", folder->part, name) < 0) {
        kymo_error("out of memory");
        return NULL;
    }
    return path;
}

int output_folder_add(struct output_folder *folder, const char *name)
{
    char *path = output_folder_path(folder, name);
    sigset_t before;
    int outcome;

    output_hold_signals(&before);
    outcome = path == NULL ? -1 : mkdir(path, 0777);

    if (path != NULL && outcome != 0) {
        kymo_error("%s/%s: %s", folder->name, name, strerror(errno));
    }
    if (outcome == 0 && folder->ninner < OUTPUT_FOLDER_INNER) {
        folder->inner[folder->ninner++] = path;
        folders_note(folder);
    } else {
        free(path);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return outcome;
}

int output_folder_note(struct output_folder *folder, const char *path)
{
    char *copy = folder->nfiles < OUTPUT_FOLDER_FILES ? strdup(path) : NULL;
    sigset_t before;

    if (copy == NULL) {
        kymo_error("%s: %s", path,
                   folder->nfiles < OUTPUT_FOLDER_FILES ? "out of memory" : "too many files");
        return -1;
    }
    output_hold_signals(&before);
    folder->files[folder->nfiles++] = copy;
    folders_note(folder);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return 0;
}

static int folder_sync(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int outcome = fd < 0 ? -1 : fsync(fd);

    if (fd >= 0) {
        close(fd);
    }
    return outcome;
}

int output_folder_commit(struct output_folder *folder)
{
    char *copy = strdup(folder->name);
    bool ok = copy != NULL && folder_sync(folder->part) == 0 &&
              rename(folder->part, folder->name) == 0 && folder_sync(dirname(copy)) == 0;

    free(copy);
    if (!ok) {
        kymo_error("%s: %s", folder->name, strerror(errno));
        output_folder_abandon(folder);
        return -1;
    }
    forget(folder);
    return 0;
}

static int entry_remove(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    (void)type;
    (void)where;
    return remove(path);
}

void output_folder_abandon(struct output_folder *folder)
{
    if (folder->part != NULL) {
        nftw(folder->part, entry_remove, 8, FTW_DEPTH | FTW_PHYS);
        forget(folder);
    }
}
