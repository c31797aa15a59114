/* SPDX-License-Identifier: BSD-2-Clause */
/* Shortens the names of fbt's table. Tested by test/fbt/places.py, which reads them again, and by
 * test/boot's suite fbt. */
#ifndef HOST_FBT_NAMES_H
#define HOST_FBT_NAMES_H

#include <stddef.h>

/* kernel/dtrace/fbt_table.h: bytes of a name with its NUL, pairs within each other. */
enum { FBT_NAME_MOST = 64, FBT_DEPTH_MOST = 8 };

struct fbt_short_names {
    unsigned char pairs[128][2];
    unsigned npairs;
    unsigned char *bytes; /* for free() */
    size_t n;
};

/* The names are sorted. On failure says why and exits. */
void fbt_names_shorten(struct fbt_short_names *, const char *const *names, size_t n);

#endif
