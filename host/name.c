/* SPDX-License-Identifier: BSD-2-Clause */
/* See name.h. */
#include "host/name.h"

#include <stdbool.h>
#include <string.h>

void kymo_plain_name(const char *name, size_t bytes, char plain[KYMO_NAME_MOST])
{
    size_t at = 0;

    for (size_t i = 0; i < bytes && at + 1 < KYMO_NAME_MOST; i++) {
        bool shows = name[i] > ' ' && name[i] < 0x7f && !(at == 0 && name[i] == '.');

        if (name[i] == '/') {
            at = 0;
        } else {
            plain[at++] = shows ? name[i] : '_';
        }
    }
    plain[at] = '\0';
    if (at == 0) {
        strcpy(plain, "trace.kev");
    }
}
