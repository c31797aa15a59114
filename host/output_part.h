/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of output.c's files. A part is locked while it is written, so that one that a killed
 * command has left is known: nobody holds its lock. A file system without locks has no dead parts.
 */
#ifndef HOST_OUTPUT_PART_H
#define HOST_OUTPUT_PART_H

/* The characters that mkostemps() makes unique, and the end that a part's name has after that of
 * its file. The mark tells it from another program's part and a person's copy. */
#define OUTPUT_PART_MARK "kymo-"
#define OUTPUT_PART_UNIQUE "XXXXXX.part"
#define OUTPUT_PART_SUFFIX "." OUTPUT_PART_MARK OUTPUT_PART_UNIQUE

/* Removes the dead parts of the same name as `part`, which ends in OUTPUT_PART_SUFFIX, from the
 * folder `in`, which ends in a slash. One that is a capture stays: it may be all that is left of a
 * recording. */
void output_part_remove_dead(const char *in, const char *part);
/* Creates and locks a part; `path` ends in OUTPUT_PART_SUFFIX, and gets its name. A command that
 * took it for a dead one's before it was locked has removed it: then another one is made. Returns
 * its descriptor, or -1 and errno. */
int output_part_create(char *path);

#endif
