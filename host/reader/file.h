/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes at an offset, of a file, of a pipe (spooled) or of memory. One reader, one thread. */
#ifndef HOST_READER_FILE_H
#define HOST_READER_FILE_H

#include "host/reader/kev.h"

struct kev_file {
    int fd;                /* what is read at offsets: the file, or the spool */
    int pipe;              /* the pipe, -1 if it is a file or has ended */
    bool spooled;          /* fd is a copy of what came through a pipe */
    const uint8_t *memory; /* NULL: the file */
    char *path;
    uint64_t size;
    uint8_t *window; /* the bytes around the previous small read: small reads are many and close */
    uint64_t window_at, looked_at; /* the second: the offset of the previous small read */
    size_t window_bytes;
};

int kev_file_open(struct kev_file *file, const char *path, const struct kev_options *options,
                  struct kev_error *error);
void kev_file_close(struct kev_file *file);
/* Sees how long the file is now; of a pipe takes what is there. */
int kev_file_refresh(struct kev_file *file, bool follow, struct kev_error *error);
/* Reports that the file is shorter than it was at the previous refresh; returns -1. */
int kev_file_truncated(const struct kev_file *file, struct kev_error *error);
/* Waits until the pipe has more, or an interrupt (an error). */
int kev_file_wait(struct kev_file *file, struct kev_error *error);
/* Reads at most len bytes; fewer only at the end that the previous refresh saw. -1 and *error on a
 * read error, and if the file is shorter now. */
long kev_file_read(struct kev_file *file, uint64_t offset, void *buffer, size_t len,
                   struct kev_error *error);

/* Like kev_file_read(), for at most KEV_LOOK_MOST bytes, which are not copied: *bytes, of any
 * alignment, is valid until the next call for this file. */
#define KEV_LOOK_MOST 16384
long kev_file_look(struct kev_file *file, uint64_t offset, size_t len, const uint8_t **bytes,
                   struct kev_error *error);

#endif
