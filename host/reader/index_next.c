/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Another capture in the same file, as `cat a.kev b.kev` makes it: this one ends where that one's
 * header begins. The header's first text can't be in a capture's slots: every 16 bytes a slot's
 * header and time would interrupt it. Proof: test/host/verify/verdicts.py.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/reader/reader.h"

#define BEGIN_BYTES (sizeof(KEV_BEGIN) - 1)
#define CHUNK_BYTES 65536

/* Recovering a damaged head: buffers are looked for from the file's start, and before the first of
 * them any header is this capture's. */
static bool header_is_own(const struct kev *kev)
{
    return kev->head_damaged && kev->info.buffers == 0;
}

int64_t kev_another_find(struct kev *kev, uint64_t from, uint64_t to, struct kev_error *error)
{
    char *bytes;
    int64_t found = (int64_t)to;

    if (header_is_own(kev)) {
        return found;
    }
    bytes = malloc(CHUNK_BYTES);
    if (bytes == NULL) {
        return kev_fail_plain(error, kev->file.path, "out of memory");
    }
    while (from < to && found == (int64_t)to) {
        long len = kev_file_read(&kev->file, from, bytes, CHUNK_BYTES, error);
        const char *at =
            len < (long)BEGIN_BYTES ? NULL : memmem(bytes, (size_t)len, KEV_BEGIN, BEGIN_BYTES);

        if (len < 0) {
            found = -1;
        } else if (at != NULL && from + (uint64_t)(at - bytes) < to) {
            found = (int64_t)from + (at - bytes);
        } else if (at != NULL || len < CHUNK_BYTES) {
            break;
        }
        from += CHUNK_BYTES - BEGIN_BYTES + 1;
    }
    free(bytes);
    return found;
}

bool kev_another_begins(struct kev *kev, uint64_t at)
{
    struct kev_error error;
    const uint8_t *bytes;
    long len = kev_file_look(&kev->file, at, BEGIN_BYTES, &bytes, &error);

    return !header_is_own(kev) && len == (long)BEGIN_BYTES &&
           memcmp(bytes, KEV_BEGIN, BEGIN_BYTES) == 0;
}

void kev_another_take(struct kev *kev, uint64_t at)
{
    char text[200];

    kev->info.next_capture = at;
    kev->index.end = kev->file.size;
    snprintf(text, sizeof(text),
             "another capture begins here and is not read; `head -c %" PRIu64
             "` and `tail -c +%" PRIu64 "` of the file give each alone",
             at, at + 1);
    kev_fail(kev, &kev->another, at, "%s", text);
    kev->another.given = true;
    kev->another.recoverable = false;
}
