/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chains of blocks (spool.h): each block has before it the place of the next one of its chain.
 */
#include <errno.h>
#include <unistd.h>

#include "host/export/spool.h"
#include "host/kymo.h"
#include "host/temporary.h"

struct spool_block {
    uint64_t next; /* like spool_chain's first; 0: none yet */
    uint8_t bytes[SPOOL_BLOCK];
};

static int spool_fails(int error)
{
    kymo_error("%s: a temporary file: %s; TMPDIR=FOLDER names another place", temporary_place(),
               strerror(error));
    return -1;
}

int spool_open(struct spool *spool)
{
    spool->end = 0;
    spool->fd = temporary_open();
    return spool->fd < 0 ? spool_fails(errno) : 0;
}

void spool_close(struct spool *spool)
{
    if (spool->fd >= 0) {
        close(spool->fd);
    }
    spool->fd = -1;
}

static int spool_write_at(int fd, const void *data, size_t bytes, uint64_t at)
{
    const uint8_t *from = data;

    while (bytes > 0) {
        ssize_t n = pwrite(fd, from, bytes, (off_t)at);

        if (n < 0 && errno != EINTR) {
            return spool_fails(errno);
        }
        from += n > 0 ? n : 0;
        at += n > 0 ? (uint64_t)n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

int spool_add(struct spool *spool, struct spool_chain *chain, const uint8_t *block)
{
    struct spool_block written = {.next = 0};
    uint64_t place = spool->end + 1;

    memcpy(written.bytes, block, SPOOL_BLOCK);
    if (spool_write_at(spool->fd, &written, sizeof(written), spool->end) != 0 ||
        (chain->blocks > 0 &&
         spool_write_at(spool->fd, &place, sizeof(place), chain->last - 1) != 0)) {
        return -1;
    }
    chain->first = chain->blocks == 0 ? place : chain->first;
    chain->last = place;
    chain->blocks++;
    spool->end += sizeof(written);
    return 0;
}

int spool_copy(const struct spool *spool, const struct spool_chain *chain, uint64_t bytes,
               struct out *out)
{
    struct spool_block block;
    uint64_t place = chain->first;

    while (bytes > 0) {
        size_t part = bytes < SPOOL_BLOCK ? (size_t)bytes : SPOOL_BLOCK;
        ssize_t n = place == 0 ? 0 : pread(spool->fd, &block, sizeof(block), (off_t)place - 1);

        if (n != (ssize_t)sizeof(block)) {
            return spool_fails(n < 0 ? errno : EIO);
        }
        out_bytes(out, (const char *)block.bytes, part);
        bytes -= part;
        place = block.next;
    }
    return 0;
}

int spool_text_add(struct spool *spool, struct spool_text *text, const void *data, size_t length)
{
    const uint8_t *from = data;

    while (length > 0) {
        size_t room = SPOOL_BLOCK - text->used, part = length < room ? length : room;

        memcpy(text->block + text->used, from, part);
        text->used += part;
        text->bytes += part;
        from += part;
        length -= part;
        if (text->used == SPOOL_BLOCK) {
            text->used = 0;
            if (spool_add(spool, &text->chain, text->block) != 0) {
                return -1;
            }
        }
    }
    return 0;
}

int spool_text_copy(const struct spool *spool, const struct spool_text *text, struct out *out)
{
    if (spool_copy(spool, &text->chain, text->bytes - text->used, out) != 0) {
        return -1;
    }
    out_bytes(out, (const char *)text->block, text->used);
    return 0;
}
