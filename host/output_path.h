/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks of a path for output.c, before it opens anything there. */
#ifndef HOST_OUTPUT_PATH_H
#define HOST_OUTPUT_PATH_H

#include <stdbool.h>

/* Returns the descriptor that a name stands for ("-", /dev/stdout, /dev/fd/3); -1 for the name of a
 * file. A file behind a descriptor is written to at the descriptor's offset. */
int output_descriptor(const char *path);
/* Returns the path that symbolic links lead to, to be freed; the file need not exist. NULL and
 * errno on failure. */
char *output_follow_links(const char *path);
/* Returns true if the file begins like a capture, or like a disk with captures. */
bool output_is_capture(const char *path);

#endif
