/* SPDX-License-Identifier: BSD-2-Clause */
/* See name.h. */
#include "host/name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define NAME_SUFFIX ".kev"

/* Windows has no such characters in names, and a backslash is a slash there. */
static char name_char(char c, bool first)
{
    bool shows = c > ' ' && c < 0x7f && strchr("<>:\"|?*\\", c) == NULL;

    return shows && !(first && (c == '.' || c == '-')) ? c : '_';
}

/* Returns true if Windows takes the name for a device's, which it does whatever follows the first
 * dot. */
static bool name_is_device(const char *name)
{
    static const char *const devices[] = {"con", "prn", "aux", "nul", "com", "lpt"};
    size_t length = strcspn(name, ".");
    bool numbered = length == 4 && isdigit((unsigned char)name[3]);

    for (unsigned i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
        if (strncasecmp(name, devices[i], 3) == 0 && (i < 4 ? length == 3 : numbered)) {
            return true;
        }
    }
    return false;
}

void kymo_plain_name(const char *name, size_t bytes, char plain[KYMO_NAME_MOST])
{
    const size_t most = KYMO_NAME_MOST - 1 - strlen(NAME_SUFFIX);
    const char *slash = memrchr(name, '/', bytes);
    const char *from = slash == NULL ? name : slash + 1;
    size_t length = bytes - (size_t)(from - name), at = 0;

    if (length == 0) { /* "a/" is a folder's */
        from = "trace";
        length = strlen(from);
    }
    if (length > strlen(NAME_SUFFIX) &&
        strncasecmp(from + length - strlen(NAME_SUFFIX), NAME_SUFFIX, strlen(NAME_SUFFIX)) == 0) {
        length -= strlen(NAME_SUFFIX);
    }
    for (size_t i = 0; i < length && at < most; i++) {
        plain[at++] = name_char(from[i], i == 0);
    }
    plain[at] = '\0';
    if (name_is_device(plain)) {
        at = at < most ? at : most - 1;
        memmove(plain + 1, plain, at);
        plain[0] = '_';
        plain[++at] = '\0';
    }
    strcpy(plain + at, NAME_SUFFIX);
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
