/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where kymo finds the boards that it boots and their ELF files: the folder with one folder a
 * board. In the source tree that is build/, beside this executable; installed as PREFIX/bin/kymo,
 * it is PREFIX/share/kymo. Both have the same files in a board's folder. Proof: test/run/check.
 */
#ifndef HOST_HOME_H
#define HOST_HOME_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct home {
    char boards[PATH_MAX]; /* the folder of the boards' folders */
    char tree[PATH_MAX];   /* the source tree, where make builds images; empty if installed */
};

/* False: the executable is in neither place; no image can be found. */
bool home_find(struct home *home);
/* The path of a boot image; images that only tests boot have a folder of their own. False: the path
 * is too long. Whether the file exists is for the caller to find out. */
bool home_image(const struct home *home, const char *board, const char *image, char *path,
                size_t room);

#endif
