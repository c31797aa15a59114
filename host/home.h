/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folder in which kymo finds the boards that it boots and their ELF files: it has one folder a
 * board. In the source tree it is build/, beside this executable; installed as PREFIX/bin/kymo, it
 * is PREFIX/share/kymo. Both have the same files in a board's folder. Tested by
 * test/host/run/check.
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

/* Returns false if the executable is in neither place: then no image can be found. */
bool home_find(struct home *home);
/* Writes the path of a boot image, which need not exist; images that only tests boot have a folder
 * of their own. Returns false if the path is too long. */
bool home_image(const struct home *home, const char *board, const char *image, char *path,
                size_t room);

#endif
