/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The image that is booted: built with the source tree's make, or found where kymo is installed.
 * The output of make goes to standard error: standard output is the guest's.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/run/run.h"
#include "host/temporary.h"

bool run_name_ok(const char *name)
{
    size_t len = strlen(name);

    return len > 0 && len < 64 && name[0] != '.' && name[0] != '-' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == len;
}

int run_find_home(struct run *run)
{
    if (!home_find(&run->home)) {
        kymo_error("kymo is neither in the build/ of its source tree nor installed: "
                   "there is nothing to boot");
        return -1;
    }
    return 0;
}

static void make_exec(struct run *run, char *board, char *image, FILE *log)
{
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    if (log != NULL) {
        dup2(fileno(log), STDERR_FILENO);
    }
    dup2(STDERR_FILENO, STDOUT_FILENO);
    execlp("make", "make", "-s", "-C", run->home.tree, "image", "MEDIUM=no", board, image,
           (char *)NULL);
    fprintf(stderr, "kymo: cannot run make: %s\n", strerror(errno));
    _exit(127);
}

/* make's status as wait() gives it, or -1. */
static int run_build_make(struct run *run, FILE *log)
{
    char board[PATH_MAX], image[PATH_MAX];
    int status = 0;
    pid_t pid;

    snprintf(board, sizeof(board), "BOARD=%s", run->board);
    snprintf(image, sizeof(image), "IMAGE=%s", run->image);
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        make_exec(run, board, image, log);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) {
            pid = -1;
        }
    }
    return pid < 0 ? -1 : status;
}

static void run_build_show_log(FILE *log)
{
    char text[4096];
    size_t n;

    rewind(log);
    while ((n = fread(text, 1, sizeof(text), log)) > 0) {
        fwrite(text, 1, n, stderr);
    }
}

static int image_make(struct run *run)
{
    FILE *log = run->quiet_build ? temporary_stream() : NULL;
    int status = run_build_make(run, log);

    if (status != 0 && log != NULL) {
        run_build_show_log(log);
    }
    if (log != NULL) {
        fclose(log);
    }
    if (status < 0) {
        kymo_error("cannot run make: %s", strerror(errno));
    } else if (status != 0) {
        kymo_error("cannot build %s for %s%s", run->image, run->board,
                   run->quiet_build ? "" : "; --no-build boots the existing image");
    }
    return status == 0 ? 0 : -1;
}

/* The boards that have a folder there, with a blank before each. */
static void boards_list(const struct home *home, char *text, size_t room)
{
    char path[PATH_MAX];
    struct dirent *entry;
    DIR *dir = opendir(home->boards);
    size_t used = 0;

    text[0] = '\0';
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        snprintf(path, sizeof(path), "%.2000s/%s/images", home->boards, entry->d_name);
        if (access(path, R_OK) == 0 && used < room) {
            used += (size_t)snprintf(text + used, room - used, " %s", entry->d_name);
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
}

/* <board>/images has the names of the board's images for people, one a line; a blank
 * before each. */
static bool images_list(const struct run *run, char *text, size_t room)
{
    char path[PATH_MAX];
    size_t used;
    FILE *from;

    snprintf(path, sizeof(path), "%.2000s/%.200s/images", run->home.boards, run->board);
    from = fopen(path, "re");
    if (from == NULL) {
        return false;
    }
    text[0] = ' ';
    used = 1 + fread(text + 1, 1, room - 2, from);
    fclose(from);
    text[used - 1] = '\0'; /* for the last newline */
    for (char *newline = text; (newline = strchr(newline, '\n')) != NULL;) {
        *newline = ' ';
    }
    return true;
}

static int image_missing(const struct run *run)
{
    char list[1000];
    const char *remedy = *run->home.tree ? "; without --no-build it is built" : "";

    if (errno != ENOENT) {
        kymo_error("%s: cannot read: %s", run->elf, strerror(errno));
    } else if (images_list(run, list, sizeof(list))) {
        kymo_error("no image %s for %s; there are:%s%s", run->image, run->board, list, remedy);
    } else {
        boards_list(&run->home, list, sizeof(list));
        kymo_error("nothing is built for a board %s; boards with images:%s%s", run->board,
                   list[0] ? list : " none", remedy);
    }
    return -1;
}

/* The emulator would load any other file as plain code and run it. */
static int elf_check(const char *path, const char *shown)
{
    char magic[4] = "";
    FILE *file = fopen(path, "re");
    size_t n = file == NULL ? 0 : fread(magic, 1, sizeof(magic), file);
    bool failed = file == NULL || ferror(file);

    if (failed) {
        kymo_error("%s: cannot read: %s", shown, strerror(errno));
    } else if (n != sizeof(magic) || memcmp(magic, "\177ELF", sizeof(magic)) != 0) {
        kymo_error("%s: not an ELF file, so it is no boot image", shown);
        failed = true;
    }
    if (file != NULL) {
        fclose(file);
    }
    return failed ? -1 : 0;
}

/* A path: an image from outside of the tree (scripts/app.mk), which its own makefile builds. */
static int image_by_path(struct run *run)
{
    if (realpath(run->image, run->elf) == NULL) {
        kymo_error("%s: cannot read: %s", run->image, strerror(errno));
        return -1;
    }
    return elf_check(run->elf, run->image);
}

int run_build(struct run *run)
{
    if (strchr(run->image, '/') != NULL) {
        return image_by_path(run);
    }
    if (*run->home.tree && !run->no_build && image_make(run) != 0) {
        return -1;
    }
    if (!home_image(&run->home, run->board, run->image, run->elf, sizeof(run->elf))) {
        kymo_error("%s: the path is too long", run->home.boards);
        return -1;
    }
    return access(run->elf, R_OK) == 0 ? 0 : image_missing(run);
}
