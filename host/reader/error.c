/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reader's messages: each names the file, the byte offset and the error. Proof:
 * test/host/reader/damage_test.c.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "host/reader/reader.h"

static void kev_message(struct kev *kev, struct kev_error *error, uint64_t offset,
                        const char *format, va_list args)
{
    const char *state = error->incomplete ? "cut short" : "damaged";
    char what[384];

    vsnprintf(what, sizeof(what), format, args);
    error->offset = offset;
    error->no_memory = false;
    error->given = error->incomplete;
    error->placed = true;
    error->recoverable = !kev->options.recover;
    snprintf(error->text, sizeof(error->text), "%.*s: %s at byte %" PRIu64 " (0x%" PRIx64 "): %s",
             KEV_PATH_SHOWN, kev->file.path, state, offset, offset, what);
}

int kev_fail(struct kev *kev, struct kev_error *error, uint64_t offset, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    error->incomplete = false;
    kev_message(kev, error, offset, format, args);
    va_end(args);
    return -1;
}

int kev_fail_incomplete(struct kev *kev, struct kev_error *error, uint64_t offset,
                        const char *format, ...)
{
    va_list args;

    va_start(args, format);
    error->incomplete = true;
    kev_message(kev, error, offset, format, args);
    va_end(args);
    return -1;
}

int kev_fail_plain(struct kev_error *error, const char *path, const char *format, ...)
{
    char what[384];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    error->incomplete = error->given = error->recoverable = error->placed = false;
    error->no_memory = false;
    error->offset = 0;
    snprintf(error->text, sizeof(error->text), "%.300s: %s", path, what);
    return -1;
}

int kev_fail_memory(struct kev_error *error, const char *path, const char *text)
{
    kev_fail_plain(error, path, "%s", text);
    error->no_memory = true;
    return -1;
}

void kev_note(struct kev *kev, uint64_t offset, const char *what)
{
    if (kev->damage.first[0] == '\0' || offset < kev->damage.first_offset) {
        kev->damage.first_offset = offset;
        snprintf(kev->damage.first, sizeof(kev->damage.first), "%s", what);
    }
}
