/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A writer's life, at random: captures of records, ended or not, reclaimed when the disk is full;
 * and what of it the disk must have, whatever happens: all that was acknowledged.
 */
#ifndef TEST_LIB_BLOCKLOG_STORY_H
#define TEST_LIB_BLOCKLOG_STORY_H

#include "lib/blocklog/blocklog.h"
#include "test/lib/blocklog/model.h"

#define STORY_CAPTURES 64
#define STORY_RECORDS 64

struct told {
    uint64_t begin;
    bool ended;
    unsigned records;
    uint64_t lost; /* slots that were not acknowledged */
    uint64_t seed[STORY_RECORDS];
    uint32_t bytes[STORY_RECORDS];
    bool acknowledged[STORY_RECORDS];
};

struct story {
    struct model *model;
    struct blocklog log;
    struct told told[STORY_CAPTURES]; /* acknowledged beginnings, in order */
    unsigned captures;
    uint64_t acknowledged, failed, reclaimed, together;
    bool whole_buffers; /* a third of the records, as captures have them */
    uint8_t data[BLOCKLOG_TOGETHER][BLOCKLOG_DATA_BYTES];
};

/* An empty log, which reclaims, on a new disk. */
bool story_begin(struct story *story, struct model *model, uint64_t sectors, uint64_t seed);
/* A capture of three bytes. */
bool story_record_one(struct blocklog *log, const char *name);
/* For extract_read(): adds up. */
int story_count(void *bytes, const void *data, size_t more);
/* One step: a record, a beginning, an end. false: the log's own error other than a fault's. */
bool story_step(struct story *story);
/* What record `seed` of `bytes` is. */
void story_bytes(uint64_t seed, uint8_t *data, uint32_t bytes);
/* Opens the log of a disk that model_from() has made; `ask` for the bounds or read all headers, as
 * if they were not sound: both must find the same. */
bool story_finds_the_same(struct blocklog *log, struct model *disk);
/* Is all that was acknowledged in this image, as it was? Prints what isn't. */
bool story_holds(const struct story *story, const uint8_t *image);

#endif
