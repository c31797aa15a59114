/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chains of blocks in one temporary file without a name: for formats in which one CPU's or thread's
 * part follows another's, though their events come mixed; and texts in such chains. Memory does not
 * grow with the chains; the file is in $TMPDIR, else /tmp, and needs what the output needs. One
 * thread. A function that fails has said why.
 */
#ifndef HOST_EXPORT_SPOOL_H
#define HOST_EXPORT_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "host/print/out.h"

#define SPOOL_BLOCK 4096

struct spool {
    int fd;
    uint64_t end;
};

/* Zeros: an empty chain. */
struct spool_chain {
    uint64_t first, last; /* byte of the file, and 1 */
    uint64_t blocks;
};

/* Zeros: an empty text. */
struct spool_text {
    struct spool_chain chain; /* without its last block */
    uint64_t bytes;           /* of all of it */
    size_t used;              /* of `block`, its last one */
    uint8_t block[SPOOL_BLOCK];
};

/* 0 or -1. */
int spool_open(struct spool *spool);
void spool_close(struct spool *spool);
/* Adds a block of SPOOL_BLOCK bytes. 0 or -1. */
int spool_add(struct spool *spool, struct spool_chain *chain, const uint8_t *block);
/* Writes the first `bytes` bytes of a chain. 0 or -1. */
int spool_copy(const struct spool *spool, const struct spool_chain *chain, uint64_t bytes,
               struct out *out);
/* Adds to a text. 0 or -1. */
int spool_text_add(struct spool *spool, struct spool_text *text, const void *data, size_t length);
/* Writes a text. 0 or -1. */
int spool_text_copy(const struct spool *spool, const struct spool_text *text, struct out *out);

#endif
