/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The mark of a folder of kymo export --parquet, which has the version of its layout: what a later
 * kymo wrote is neither read nor added to. Proof: test/host/verify/versions.py.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/fleet/fleet.h"
#include "host/kymo.h"

#define MARK_VERSION 2
#define MARK_TEXT "{\"kymo\":\"dataset\",\"version\":%u"

int fleet_mark_write(const char *folder, int fd)
{
    char text[64];
    int length = snprintf(text, sizeof(text), MARK_TEXT "}\n", MARK_VERSION);

    if (pwrite(fd, text, (size_t)length, 0) != length) {
        kymo_error("%s/%s: %s", folder, FLEET_MARK, strerror(errno));
        return -1;
    }
    return 0;
}

int fleet_mark_check(const char *folder, int fd, bool *is_empty)
{
    char text[64] = "";
    ssize_t length = pread(fd, text, sizeof(text) - 1, 0);
    unsigned version;

    *is_empty = length == 0;
    if (length < 0) {
        kymo_error("%s/%s: %s", folder, FLEET_MARK, strerror(errno));
    } else if (length > 0 && sscanf(text, MARK_TEXT, &version) != 1) {
        text[strcspn(text, "\n")] = '\0';
        kymo_error("%s/%s: is no mark of kymo export --parquet, and has no version: %s", folder,
                   FLEET_MARK, text);
    } else if (length > 0 && version < MARK_VERSION) {
        kymo_error("%s/%s: a folder of layout version %u, this kymo reads version %u: export its "
                   "captures again into a new folder, or use the kymo that made it",
                   folder, FLEET_MARK, version, MARK_VERSION);
    } else if (length > 0 && version > MARK_VERSION) {
        kymo_error("%s/%s: a folder of layout version %u, this kymo reads version %u: use the kymo "
                   "that made it, or name a new folder",
                   folder, FLEET_MARK, version, MARK_VERSION);
    } else {
        return 0;
    }
    return -1;
}
