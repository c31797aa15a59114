/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A folder that the command writes: it is made as NAME.part.XXXXXX and has its name only once all
 * of its files are on the medium. The files are written as host/output.h has it. A signal that ends
 * the command removes all of it, and the next command that writes the same NAME removes what a
 * killed one has left: a part that has OUTPUT_FOLDER_MARK and that no process has locked. One
 * thread, one folder at a time. A function that fails has said why (kymo_error()).
 * Proof: test/host/output_test.c.
 */
#ifndef HOST_OUTPUT_FOLDER_H
#define HOST_OUTPUT_FOLDER_H

#define OUTPUT_FOLDER_INNER 4
#define OUTPUT_FOLDER_FILES 256
#define OUTPUT_FOLDER_MARK ".kymo-part" /* an empty file */

struct output_folder {
    const char *name;                 /* the caller's */
    char *part;                       /* its path until it is committed; NULL: there is none */
    char *inner[OUTPUT_FOLDER_INNER]; /* paths of its folders */
    unsigned ninner;
    char *files[OUTPUT_FOLDER_FILES]; /* of files that have their names in it */
    unsigned nfiles;
    const char *noted[OUTPUT_FOLDER_FILES + OUTPUT_FOLDER_INNER + 3];
    char *mark; /* path of its mark */
    int held;   /* temporary_lock()'s */
};

/* Begins a folder. A name that is taken by anything but an empty folder is refused. 0 or -1. */
int output_folder_open(struct output_folder *folder, const char *name);
/* A folder in it. 0 or -1. */
int output_folder_add(struct output_folder *folder, const char *name);
/* The path of a file in it, to be freed; NULL: no memory, reported. */
char *output_folder_path(const struct output_folder *folder, const char *name);
/* Notes a file in it by its path, before it is committed: a signal then removes it with the folder.
 * 0 or -1. */
int output_folder_note(struct output_folder *folder, const char *path);
/* All files have been committed. 0 or -1; then the folder is removed. */
int output_folder_commit(struct output_folder *folder);
/* Removes it with all that is in it. A folder that was committed is left alone. */
void output_folder_abandon(struct output_folder *folder);

#endif
