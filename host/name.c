/* SPDX-License-Identifier: BSD-2-Clause */
/* See name.h. */
#include "host/name.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void kymo_plain_name(const char *name, size_t bytes, char plain[KYMO_NAME_MOST])
{
    size_t at = 0;

    for (size_t i = 0; i < bytes && at + 1 < KYMO_NAME_MOST; i++) {
        bool first = at == 0 && (name[i] == '.' || name[i] == '-');
        bool shows = name[i] > ' ' && name[i] < 0x7f && !first;

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

void kymo_tagged_name(const char *plain, const char *tag, char tagged[KYMO_NAME_MOST])
{
    const char *dot = strrchr(plain, '.');
    const char *end = dot && dot != plain ? dot : plain + strlen(plain);
    size_t suffix = strlen(end), stem = (size_t)(end - plain), most = KYMO_NAME_MOST - 1;

    suffix = suffix > KYMO_SUFFIX_MOST ? KYMO_SUFFIX_MOST : suffix;
    most -= suffix + 1 + strlen(tag);
    snprintf(tagged, KYMO_NAME_MOST, "%.*s-%s%.*s", (int)(stem < most ? stem : most), plain, tag,
             (int)suffix, end);
}
