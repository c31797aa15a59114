/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One attribute of a capture's beginning as text (docs/reference/format.md §1), for the system that
 * records and for the host. Any context that may call vsnprintf(); about 100 bytes of stack.
 */
#ifndef LIB_CAPTURE_ATTRIBUTE_H
#define LIB_CAPTURE_ATTRIBUTE_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lib/capture/attributes.h"

enum { CAPTURE_ATTRIBUTE_ROOM = 40 + CAPTURE_VALUE_MOST };

/* Writes "TRACE_" key "::" value, truncating the value. Returns the bytes. */
static inline int capture_attribute(char text[CAPTURE_ATTRIBUTE_ROOM], const char *key,
                                    const char *format, va_list list)
{
    char value[CAPTURE_VALUE_MOST + 1];

    vsnprintf(value, sizeof(value), format, list);
    /* A file's name or an argument may look like the beginning of the next attribute. */
    for (char *at = strstr(value, "TRACE_"); at; at = strstr(value, "TRACE_")) {
        at[5] = '-';
    }
    return snprintf(text, CAPTURE_ATTRIBUTE_ROOM, "TRACE_%s::%s", key, value);
}

/* Formats like ctime(), without the newline; "-" from the year 10000 on. Boards without a clock
 * begin in 1970. */
static inline void capture_date(uint64_t seconds, char text[32])
{
    time_t when = (time_t)seconds;
    struct tm parts;

    if (!gmtime_r(&when, &parts) || parts.tm_year > 8099 || !asctime_r(&parts, text)) {
        strcpy(text, "-");
    }
    text[strcspn(text, "\n")] = '\0';
}

/* A build id of at most 20 bytes, in hexadecimal. */
#define CAPTURE_BUILD_ID_BYTES 20
static inline void capture_build_id(const uint8_t *id, size_t bytes,
                                    char text[2 * CAPTURE_BUILD_ID_BYTES + 1])
{
    text[0] = '\0';
    for (size_t i = 0; i < bytes && i < CAPTURE_BUILD_ID_BYTES; i++) {
        snprintf(text + 2 * i, 3, "%02x", id[i]);
    }
}

#endif
