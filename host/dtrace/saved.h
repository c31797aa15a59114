/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A compiled program in a file (--compile): the image, which is all that a target uses, followed by
 * the settings and sources, so that a command that claims the boot's consumer (-a) can name and
 * format its records. Tested by test/host/remote/board_test.c.
 */
#ifndef HOST_DTRACE_SAVED_H
#define HOST_DTRACE_SAVED_H

#include "host/dtrace/command.h"

/* Returns 0, or 1 after a message. */
int saved_write(const struct command *, const void *image, size_t size);
/* Takes over settings, sources and arguments from a file's bytes, which must stay. The settings are
 * marked as not the user's (DT_FROM_CAPTURE). Returns false if the bytes are invalid. */
bool saved_read(struct command *, const void *bytes, size_t size);

/* Returns the part after the image, for a capture (replay.h); the sources must be compiled. The
 * caller frees it; NULL if there is no memory. */
char *saved_strings(const struct command *, size_t *size);
bool saved_read_strings(struct command *, const void *bytes, size_t size);

/* Sets the options that the image itself has. Returns false if it is not an image. */
bool saved_options(struct command *, const void *image, size_t size);

#endif
