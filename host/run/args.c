/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * QEMU's command line: <board>/qemu.args (one argument a line, the program first), for --link and
 * --disk qemu.link and qemu.disk, the options of `kymo run`, the image, and the arguments after
 * `--`.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/run/run.h"

static int arg_add(struct run *run, const char *text)
{
    if (run->argc == RUN_ARGS_MAX) {
        kymo_error("too many arguments for QEMU, at most %d", RUN_ARGS_MAX);
        return -1;
    }
    run->argv[run->argc] = strdup(text);
    if (run->argv[run->argc] == NULL) {
        kymo_error("out of memory");
        return -1;
    }
    run->argc++;
    return 0;
}

static int pair_add(struct run *run, const char *option, const char *value)
{
    return arg_add(run, option) == 0 ? arg_add(run, value) : -1;
}

static int args_read(struct run *run, FILE *from)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t len;
    int result = 0;

    while (result == 0 && (len = getline(&line, &room, from)) >= 0) {
        if (len > 0 && line[len - 1] == '\n') {
            line[len - 1] = '\0';
        }
        result = line[0] == '\0' ? 0 : arg_add(run, line);
    }
    free(line);
    return result;
}

static int args_file(struct run *run, const char *name)
{
    char path[PATH_MAX + 64];
    FILE *from;
    int result;

    snprintf(path, sizeof(path), "%s/%s/%s", run->home.boards, run->board, name);
    from = fopen(path, "re");
    if (from == NULL) {
        kymo_error("%s: cannot read: %s", path, strerror(errno));
        return -1;
    }
    result = args_read(run, from);
    fclose(from);
    if (result == 0 && run->argc == 0) {
        kymo_error("%s: is empty", path);
        return -1;
    }
    return result;
}

/* unix:PATH or tcp:HOST:PORT as one of QEMU's sockets, which waits for no client. */
static int chardev_text(struct run *run, char *text, size_t room)
{
    char here[PATH_MAX], path[PATH_MAX];
    const char *rest = strchr(run->link, ':') + 1;
    const char *port = strrchr(rest, ':');
    int length;

    if (strchr(rest, ',')) {
        kymo_error("--link %s: QEMU allows no comma there", run->link);
        return -1;
    }
    if (strncmp(run->link, "tcp:", 4) == 0) {
        length = snprintf(text, room, "socket,id=link,host=%.*s,port=%s,server=on,wait=off",
                          (int)(port - rest), rest, port + 1);
        return length < (int)room ? 0 : -1;
    }
    if (rest[0] == '/') {
        length = snprintf(path, sizeof(path), "%s", rest);
    } else {
        length = getcwd(here, sizeof(here))
                     ? snprintf(path, sizeof(path), "%.2000s/%.2000s", here, rest)
                     : PATH_MAX;
    }
    if (length >= PATH_MAX) {
        kymo_error("--link %s: the path is too long", run->link);
        return -1;
    }
    snprintf(text, room, "socket,id=link,path=%s,server=on,wait=off", path);
    return run_hold_link(run, path);
}

/* The link's device is in <board>/qemu.link. */
static int link_args(struct run *run)
{
    char text[2 * PATH_MAX];

    if (run->link == NULL) {
        return 0;
    }
    if (chardev_text(run, text, sizeof(text)) != 0 || pair_add(run, "-chardev", text) != 0) {
        return -1;
    }
    return args_file(run, "qemu.link");
}

/* The disk's device is in <board>/qemu.disk; a board without one has no such file. */
static int disk_args(struct run *run)
{
    char path[PATH_MAX], text[PATH_MAX + 64];
    int before = run->argc;

    if (run->disk == NULL) {
        return 0;
    }
    if (strchr(run->disk, ',')) {
        kymo_error("--disk %s: QEMU allows no comma there", run->disk);
        return -1;
    }
    if (access(run->disk, R_OK | W_OK) != 0) {
        kymo_error("--disk %s: %s%s", run->disk, strerror(errno),
                   errno == ENOENT ? "; make one: truncate -s 64M FILE" : "");
        return -1;
    }
    if (realpath(run->disk, path) == NULL || args_file(run, "qemu.disk") != 0 ||
        run_hold_path(run, path, "") != 0) {
        return -1;
    }
    if (run->argc == before) {
        kymo_error("--disk: %s has no disk", run->board);
        return -1;
    }
    snprintf(text, sizeof(text), "if=none,id=disk,format=raw,file=%s", path);
    return pair_add(run, "-drive", text);
}

/* Replaces the board's -smp, or adds one. */
static int smp_set(struct run *run)
{
    for (int i = 1; i + 1 < run->argc; i++) {
        if (strcmp(run->argv[i], "-smp") == 0) {
            char *value = strdup(run->smp);

            if (value == NULL) {
                kymo_error("out of memory");
                return -1;
            }
            free(run->argv[i + 1]);
            run->argv[i + 1] = value;
            return 0;
        }
    }
    return pair_add(run, "-smp", run->smp);
}

int run_args(struct run *run)
{
    /* With a link an idle board's time passes as it does for the host at the other end: if it were
     * skipped, the board would give the host up at once. */
    const char *icount = run->link ? "shift=3,sleep=on" : "shift=3,sleep=off";

    if (args_file(run, "qemu.args") != 0 || link_args(run) != 0 || disk_args(run) != 0 ||
        (run->smp != NULL && smp_set(run) != 0) ||
        (run->icount && pair_add(run, "-icount", icount) != 0) ||
        (run->gdb && pair_add(run, "-s", "-S") != 0) || pair_add(run, "-kernel", run->elf) != 0) {
        return -1;
    }
    for (int i = 0; i < run->nextra; i++) {
        if (arg_add(run, run->extra[i]) != 0) {
            return -1;
        }
    }
    run->argv[run->argc] = NULL;
    return 0;
}

void run_args_free(struct run *run)
{
    for (int i = 0; i < run->argc; i++) {
        free(run->argv[i]);
    }
    run->argc = 0;
}
