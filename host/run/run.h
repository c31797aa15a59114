/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo run: its parts. One thread.
 */
#ifndef HOST_RUN_RUN_H
#define HOST_RUN_RUN_H

#include <limits.h>

#include "host/home.h"
#include "host/kymo.h"
#include "host/output.h"

#define RUN_ARGS_MAX 256
#define RUN_HOLDS 4
#define RUN_TIMEOUT 124 /* exit status, as timeout(1)'s */

struct run {
    const char *board, *image, *smp, *capture, *link, *disk;
    unsigned timeout; /* seconds, 0: none */
    bool icount, gdb, no_build, force;
    bool quiet_build; /* what make says is shown only if it fails */
    char **extra;     /* QEMU arguments after -- */
    int nextra;
    struct home home;
    char elf[PATH_MAX];
    char *argv[RUN_ARGS_MAX + 1]; /* QEMU's, allocated */
    int argc;
    char dir[PATH_MAX];    /* QEMU's working directory */
    int dir_held;          /* of a temporary one: its descriptor; 0: it is another one */
    char target[PATH_MAX]; /* --capture: absolute, links followed */
    bool target_is_ours;   /* no file was there before this run */
    bool has_part;         /* --force: the guest writes `part`, which replaces FILE at the end */
    struct output part;
    bool set_aside;      /* an earlier trace.kev has become trace.old.kev */
    int held[RUN_HOLDS]; /* locked files */
    unsigned holds;
    char link_lock[PATH_MAX]; /* a file beside the link's socket; empty: none is held */
};

/* build.c: finds the boards' folder; builds the image, unless it is an installed one, and sets
 * run->elf. 0, or -1 after a message. */
int run_find_home(struct run *run);
int run_build(struct run *run);
/* Returns true for a name that a board or an image may have: it becomes part of a path. */
bool run_name_ok(const char *name);
/* args.c: QEMU's command line from build/<board>/qemu.args. */
int run_args(struct run *run);
void run_args_free(struct run *run);
/* place.c: QEMU's working directory, where the guest's files appear. run_place_capture() comes
 * first: it refuses --capture FILE if FILE may not be written. 0, or -1 after a message. */
int run_place_capture(struct run *run);
int run_place(struct run *run);
/* After the boot: moves the capture to its place and reports it. Returns -1 if it can't be
 * moved. */
int run_place_finish(struct run *run);
void run_place_remove(struct run *run);
/* hold.c: locks the file for this run. Returns -1 after a message that names the process which has
 * it, with a remedy that begins with its punctuation. run_hold() keeps the descriptor. */
int run_hold(struct run *run, int fd, const char *path, const char *remedy);
int run_hold_path(struct run *run, const char *path, const char *remedy);
/* Like run_hold_path(), but creates the file if it doesn't exist; `shown`: its name in messages. */
int run_hold_file(struct run *run, const char *path, const char *shown, const char *remedy);
int run_hold_link(struct run *run, const char *path); /* of a unix socket, absolute */
/* Returns true if a process listens at that unix socket. */
bool run_link_is_listening(const char *path);
void run_release(struct run *run);
/* child.c: starts QEMU, waits within the time; returns the exit status. */
int run_child(struct run *run);

#endif
