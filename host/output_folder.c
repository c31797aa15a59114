/* SPDX-License-Identifier: BSD-2-Clause */
/* See output_folder.h. */
#include "host/output_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/kymo.h"
#include "host/output.h"
#include "host/temporary.h"

static bool output_folder_is_empty(const char *path)
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
    if (folder->mark != NULL) {
        folder->noted[n++] = folder->mark;
    }
    folder->noted[n++] = folder->part;
    folder->noted[n] = NULL;
    output_remove_folders(folder->noted);
}

static void output_folder_forget_part(struct output_folder *folder)
{
    output_remove_folders(NULL);
    while (folder->ninner > 0) {
        free(folder->inner[--folder->ninner]);
    }
    while (folder->nfiles > 0) {
        free(folder->files[--folder->nfiles]);
    }
    free(folder->part);
    free(folder->mark);
    folder->part = folder->mark = NULL;
    if (folder->held >= 0) {
        close(folder->held);
    }
    folder->held = -1;
}

/* The mark goes last: what is left of a part that can't be removed now, or whose removal is
 * interrupted, is removed by the next command. */
static int entry_remove(const char *path, const struct stat *st, int type, struct FTW *where)
{
    char mark[PATH_MAX];

    (void)st;
    (void)type;
    if (where->level == 1 && strcmp(path + where->base, OUTPUT_FOLDER_MARK) == 0) {
        return 0;
    }
    if (where->level == 0 &&
        snprintf(mark, sizeof(mark), "%s/" OUTPUT_FOLDER_MARK, path) < (int)sizeof(mark)) {
        unlink(mark);
    }
    return remove(path);
}

void output_folder_abandon(struct output_folder *folder)
{
    if (folder->part != NULL) {
        /* nftw() fails where no descriptor is left. */
        if (nftw(folder->part, entry_remove, 8, FTW_DEPTH | FTW_PHYS) != 0) {
            for (const char *const *path = folder->noted; *path != NULL; path++) {
                remove(*path);
            }
        }
        output_folder_forget_part(folder);
    }
}

/* ---- opening ----------------------------------------------------------------------- */

static bool is_marked(int folder)
{
    struct stat st;

    return fstatat(folder, OUTPUT_FOLDER_MARK, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(st.st_mode) && st.st_size == 0;
}

/* The mark is asked for before the lock is taken, so that a part that is being made is never
 * locked, and again after it: it may have been committed meanwhile. */
static void output_folder_remove_if_dead(int place, const char *in, const char *entry)
{
    int folder = openat(place, entry, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool marked = folder >= 0 && is_marked(folder);
    char path[PATH_MAX];

    if (folder >= 0) {
        close(folder);
    }
    folder = marked ? temporary_lock_dead(place, entry) : -1;
    if (folder >= 0 && is_marked(folder) &&
        snprintf(path, sizeof(path), "%s/%s", in, entry) < (int)sizeof(path) &&
        nftw(path, entry_remove, 8, FTW_DEPTH | FTW_PHYS) == 0) {
        kymo_error("%s: removed: a kymo that was killed had left it", path);
    }
    if (folder >= 0) {
        close(folder);
    }
}

/* Parts of the same name, which ends in XXXXXX. */
static void output_folder_remove_dead(const char *part)
{
    char *in = strdup(part), *slash = in == NULL ? NULL : strrchr(in, '/');
    const char *base = slash == NULL ? part : part + (slash + 1 - in);
    size_t length = strlen(base);
    struct dirent *entry;
    DIR *dir = NULL;

    if (in != NULL) {
        strcpy(slash == NULL ? in : slash == in ? slash + 1 : slash, slash == NULL ? "." : "");
        dir = opendir(in);
    }
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (strlen(entry->d_name) == length &&
            strncmp(entry->d_name, base, length - strlen("XXXXXX")) == 0) {
            output_folder_remove_if_dead(dirfd(dir), in, entry->d_name);
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
    free(in);
}

/* The part's mark, and the lock that says that its process lives. 0 or an errno. */
static int part_mark(struct output_folder *folder)
{
    int fd;

    folder->mark = output_folder_path(folder, OUTPUT_FOLDER_MARK);
    if (folder->mark == NULL) {
        return ENOMEM;
    }
    folder->held = temporary_lock(folder->part);
    if (folder->held < 0) {
        return errno;
    }
    fd = open(folder->mark, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return fd < 0 || close(fd) != 0 ? errno : 0;
}

int output_folder_open(struct output_folder *folder, const char *name)
{
    size_t length = strlen(name);
    struct stat st;
    mode_t mask = umask(0);
    sigset_t before;
    int error = 0;

    umask(mask);
    *folder = (struct output_folder){.name = name, .held = -1};
    while (length > 1 && name[length - 1] == '/') {
        length--;
    }
    if (lstat(name, &st) == 0 && !(S_ISDIR(st.st_mode) && output_folder_is_empty(name))) {
        kymo_error("%s: is there already; name another folder, or remove it", name);
        return -1;
    }
    if (asprintf(&folder->part, "%.*s.part.XXXXXX", (int)length, name) < 0) {
        folder->part = NULL;
        kymo_error("out of memory");
        return -1;
    }
    output_folder_remove_dead(folder->part);
    output_hold_signals(&before);
    if (mkdtemp(folder->part) == NULL) {
        kymo_error("%s: %s", name, strerror(errno));
        free(folder->part);
        folder->part = NULL;
    } else {
        error = part_mark(folder);
        folders_note(folder);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (folder->part != NULL &&
        (error != 0 || (chmod(folder->part, 0777 & ~mask) != 0 && (error = errno) != 0))) {
        kymo_error("%s: %s", name, strerror(error));
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
    bool ok = copy != NULL && unlink(folder->mark) == 0 && folder_sync(folder->part) == 0 &&
              rename(folder->part, folder->name) == 0 && folder_sync(dirname(copy)) == 0;

    free(copy);
    if (!ok) {
        kymo_error("%s: %s", folder->name, strerror(errno));
        output_folder_abandon(folder);
        return -1;
    }
    output_folder_forget_part(folder);
    return 0;
}
