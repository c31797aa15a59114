/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks of a path for output.c, before it opens anything there. */
#ifndef HOST_OUTPUT_PATH_H
#define HOST_OUTPUT_PATH_H

#include <stdbool.h>

/* The descriptor that a name stands for ("-", /dev/stdout, /dev/fd/3), -1: the name is a file's. A
 * file behind a descriptor is written to where the one who opened it stands. */
int output_descriptor(const char *path);
/* Where symbolic links lead to, to be freed; what the last one names need not exist. NULL and
 * errno. */
char *output_follow_links(const char *path);
/* True if the file begins as a capture does, or a disk with captures. */
bool output_is_capture(const char *path);

#endif
