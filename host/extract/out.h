/* SPDX-License-Identifier: BSD-2-Clause */
/* Output of `kymo extract` for the captures found: a list, or files. */
#ifndef HOST_EXTRACT_OUT_H
#define HOST_EXTRACT_OUT_H

#include "host/extract/captures.h"
#include "host/extract/disk.h"
#include "host/extract/scan.h"

struct extract {
    const char *path, *output, *folder;
    bool list, force, scan;
    size_t number;     /* 0: all */
    size_t log_number; /* of those that a search finds; 0: the newest */
    struct blocklog log;
    struct extract_disk disk;
    struct extract_scan scanned;
    struct extract_list found;
};

/* Both print, and return the command's status. */
int extract_print_list(const struct extract *extract);
/* Writes the requested ones; `number` is one of them, or 0. Reports missing ones. */
int extract_write(struct extract *extract);

#endif
