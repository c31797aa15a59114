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
 * processes were killed, but from them only what `files` names (NULL ends the list): one with
 * anything else in it stays, and so does a file with data. A name after a '>' is a pattern of
 * fnmatch(3): such files go with their data, which can be made again. The descriptor has the lock
 * that shows that the process lives; exec() closes it.
 */
int temporary_directory_hold(const char *what, const char *const *files, char *path, size_t room);
/* Locks a directory that this process has made, so that its end can be seen, however it ends.
 * Returns a descriptor, or -1 and errno, which is EBUSY if another process took it for a dead one's
 * before it was locked. A file system without locks has no dead directories: no process can lock
 * one to remove it. */
int temporary_lock(const char *path);
/* Opens and locks a directory of this user whose process has ended. Returns its descriptor, or -1.
 * The caller proves by its contents that the process was this command's. */
int temporary_lock_dead(int place, const char *name);
/* Creates a file there, with a name. Returns its descriptor, or -1 and errno. */
int temporary_file(const char *what, char *path, size_t room);
/* Opens a file without a name, which exists until it is closed. Returns its descriptor, or -1 and
 * errno. */
int temporary_open(void);
/* Opens a stream for small data, without a file. Returns NULL and errno on failure. */
FILE *temporary_stream(void);

#endif
