/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that the command writes. No file that the command reads is written to, no file that holds
 * something is replaced unasked, and a file has its name only once all of it is on the medium: it
 * is written as NAME.kymo-XXXXXX.part in the same folder, flushed (fsync), renamed, and the folder
 * is flushed. What is no regular file (a pipe, a terminal, /dev/full, standard output) is written
 * to as it is. A part is removed if a signal ends the command; a power cut or a kill leaves it,
 * until the next command that writes the same file; one that is a capture stays.
 *
 * One thread. A function that fails has said why (kymo_error()), save where it says otherwise.
 * Proved by test/host/output_test.c and test/host/check.
 */
#ifndef HOST_OUTPUT_H
#define HOST_OUTPUT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>

enum output_policy {
    OUTPUT_NEW,     /* a file that has anything in it is refused */
    OUTPUT_LATER,   /* the same, but only when it is committed: output_try_commit() */
    OUTPUT_REPLACE, /* a file is replaced, unless it is a capture or a disk with captures */
    OUTPUT_FORCE,   /* any file is replaced */
};

struct output {
    const char *path; /* as the user has given it, for messages; the caller's */
    int fd;           /* what is written to; -1: none is open */
    int error;        /* errno of the first write that failed, 0 */
    FILE *stream;     /* of output_stream() */
    int folder;       /* of the file; -1: written as it is */
    char *name, *part;
    bool replaces;
    struct output *next; /* the open ones */
};

/* Notes that the command reads this file, or standard input ("-"): no output may be this file from
 * now on, under any name. A missing file is ignored. */
void output_reads(const char *path);
/* Returns true, without a message, if the file was noted. */
bool output_is_read(const char *path);
/* Like output_is_read(), for the command's standard output, and for an open file. */
bool output_stdout_is_read(void);
bool output_stat_is_read(const struct stat *st);

/* Returns 0, or, after a message, the error for which output_open() would refuse. Opens nothing. */
int output_check(const char *path, enum output_policy policy);
/* Opens a file to append to, as dtrace -o does. Returns NULL and errno; a file that is read is
 * refused with a message. */
FILE *output_append(const char *path);
/* Begins a file; "-" is standard output. 0 or a negative errno. A disk is refused: captures belong
 * in files. The policy's refusal advises --force, so a command that passes the first two has it. */
int output_open(struct output *output, const char *path, enum output_policy policy);
/* Like output_open(), but the file has its name at once, for others that read it while it grows. */
int output_open_in_place(struct output *output, const char *path, enum output_policy policy);
/* 0 or a negative errno. No message: output_commit() prints it, and fails. */
int output_write(struct output *output, const void *data, size_t bytes);
/* Returns the output as a stream, which the output closes. NULL: no memory, reported. */
FILE *output_stream(struct output *output);
/* All is on the medium under its name when this returns 0; else a negative errno, and the output is
 * abandoned. -EPIPE isn't said. */
int output_commit(struct output *output);
/* Like output_commit(), but if the name has been taken since returns -EEXIST: reports nothing, and
 * the output stays open for another try, perhaps after output_rename(). */
int output_try_commit(struct output *output);
/* Gives the output another name in the same folder. Returns 0 or -ENOMEM, without a message. */
int output_rename(struct output *output, const char *name);
/* Returns true if the file with the output's name holds the same bytes. */
bool output_is_same(struct output *output);
/* Keeps what was written beside the file, as NAME.kymo-XXXXXX.part; the file stays as it was. */
void output_leave_part(struct output *output);
/* Removes what was written. An output that isn't open is left alone. */
void output_abandon(struct output *output);
/* Removes the parts of all open outputs. May be called by a signal handler that ends
 * the process. */
void output_remove_parts(void);
/* Files, and folders if they are empty then, that output_remove_parts() removes, too, in their
 * order; NULL ends the list. No list: none any more. For output_folder.c. */
void output_remove_folders(const char *const *paths);
/* The signals that end the command remove these from here on; so does one for a pipe whose reader
 * has gone, if pipe is true. For commands that no longer catch them themselves. */
void output_catch_signals(bool pipe);
/* Holds the signals that end the command, until the caller restores `before`: what is created
 * meanwhile is noted before it can be left behind. */
void output_hold_signals(sigset_t *before);

#endif
