/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A disk as bad as one may be: what was written since the last flush is there, or not, each sector
 * for itself. A cut makes one of the many images that could be left. Faults are asked for.
 */
#ifndef TEST_LIB_BLOCKLOG_MODEL_H
#define TEST_LIB_BLOCKLOG_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/blocklog/disk.h"
#include "lib/blocklog/layout.h"

struct pending {
    uint64_t sector;
    uint8_t data[BLOCKLOG_SECTOR];
};

struct model {
    struct blocklog_disk disk;
    uint8_t *medium; /* what would surely be there */
    uint8_t *now;    /* what reads see */
    struct pending *pending;
    size_t pendings, most;
    uint64_t operations; /* writes and flushes so far */
    uint64_t sectors;    /* written */
    uint64_t reads;
    bool flushing;  /* at_operation is called before a flush */
    uint64_t freed; /* the furthest `oldest` of a RECLAIM record, written for good or not */
    uint64_t random;
    /* Faults: the n-th operation from now fails, so many times; each, this often of 16; always, on
     * these sectors. */
    int64_t fail_at, fail_times;
    unsigned fail_chance;
    int error;
    uint64_t bad_first, bad_after;
    bool bad_to_read;
    /* Called before each write and flush, and after each sector of a write. */
    void (*at_operation)(void *context);
    void *at_context;
};

void model_begin(struct model *model, uint64_t sectors, uint64_t seed);
void model_end(struct model *model);
/* An image that a cut now could leave: sectors * 512 bytes into `image`. */
void model_cut(struct model *model, uint8_t *image);
/* One of those that wait is there. */
void model_settle(uint8_t *image, const struct pending *pending);
/* A disk whose medium is such an image. */
void model_from(struct model *model, const uint8_t *image, uint64_t sectors, uint64_t seed);
uint64_t model_random(struct model *model, uint64_t below);

#endif
