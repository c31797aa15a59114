/* SPDX-License-Identifier: BSD-2-Clause */
/* Temporary files of the command: in $TMPDIR, else in /tmp. */
#ifndef HOST_TEMPORARY_H
#define HOST_TEMPORARY_H

#include <stddef.h>
#include <stdio.h>

/* The directory, as the environment has it. */
const char *temporary_place(void);
/* Makes a directory kymo-WHAT-XXXXXX there, the caller's to remove; `path`: absolute. 0, or -1 and
 * errno. */
int temporary_directory(const char *what, char *path, size_t room);
/*
 * Makes such a directory and holds it: returns a descriptor to be closed after the directory has
 * been removed, or -1 and errno. First removes the directories of the same WHAT and user whose
 * processes were killed, but from them only `files` (NULL ends the list): one with anything else
 * in it stays. The descriptor has the lock that shows that the process lives; exec() closes it.
 */
int temporary_directory_hold(const char *what, const char *const *files, char *path, size_t room);
/* Creates a file there, with a name. Returns its descriptor, or -1 and errno. */
int temporary_file(const char *what, char *path, size_t room);
/* Opens a file without a name, which exists until it is closed. Returns its descriptor, or -1 and
 * errno. */
int temporary_open(void);
/* Opens a stream for small data, without a file. Returns NULL and errno on failure. */
FILE *temporary_stream(void);

#endif
