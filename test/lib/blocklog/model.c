/* SPDX-License-Identifier: BSD-2-Clause */
/* See model.h. */
#include "test/lib/blocklog/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

uint64_t model_random(struct model *model, uint64_t below)
{
    model->random ^= model->random << 13;
    model->random ^= model->random >> 7;
    model->random ^= model->random << 17;
    return model->random % below;
}

static bool overlaps_bad(const struct model *model, uint64_t sector, uint32_t sectors)
{
    return sector < model->bad_after && sector + sectors > model->bad_first;
}

/* 0, or the error of the fault that is due. */
static int operation(struct model *model)
{
    if (model->at_operation) {
        model->at_operation(model->at_context);
    }
    model->operations++;
    if (model->fail_times > 0 && model->fail_at-- <= 0) {
        model->fail_times--;
        return model->error;
    }
    return model_random(model, 16) < model->fail_chance ? model->error : 0;
}

static int model_read(void *context, uint64_t sector, void *data, uint32_t sectors)
{
    struct model *model = context;

    model->reads++;
    if (sector + sectors > model->disk.sectors || sectors == 0) {
        return -EINVAL;
    }
    if (model->bad_to_read && overlaps_bad(model, sector, sectors)) {
        return -EIO;
    }
    memcpy(data, model->now + sector * BLOCKLOG_SECTOR, (size_t)sectors * BLOCKLOG_SECTOR);
    return 0;
}

/* A reclaim that the writer takes for failed may be on the medium all the same. */
static void note_reclaim(struct model *model, const uint8_t *data)
{
    struct blocklog_header header;

    memcpy(&header, data, sizeof(header));
    if (header.magic == BLOCKLOG_HEADER_MAGIC && header.kind == BLOCKLOG_RECLAIM &&
        header.oldest > model->freed) {
        model->freed = header.oldest;
    }
}

static void pend(struct model *model, uint64_t sector, const uint8_t *data)
{
    note_reclaim(model, data);
    if (model->pendings == model->most) {
        model->most = model->most ? 2 * model->most : 64;
        model->pending = realloc(model->pending, model->most * sizeof(*model->pending));
    }
    model->pending[model->pendings].sector = sector;
    memcpy(model->pending[model->pendings++].data, data, BLOCKLOG_SECTOR);
    memcpy(model->now + sector * BLOCKLOG_SECTOR, data, BLOCKLOG_SECTOR);
    model->sectors++;
}

/* A write that fails may have written any part; of a bad sector, what is before it. */
static int model_write(void *context, uint64_t sector, const void *data, uint32_t sectors)
{
    struct model *model = context;
    int error = operation(model);
    uint32_t whole = error ? (uint32_t)model_random(model, sectors + 1) : sectors;

    if (sector + sectors > model->disk.sectors || sectors == 0) {
        return -EINVAL;
    }
    if (error == 0 && overlaps_bad(model, sector, sectors)) {
        error = -EIO;
        whole = sector < model->bad_first ? (uint32_t)(model->bad_first - sector) : 0;
    }
    for (uint32_t i = 0; i < whole; i++) {
        pend(model, sector + i, (const uint8_t *)data + (size_t)i * BLOCKLOG_SECTOR);
        if (model->at_operation) {
            model->at_operation(model->at_context);
        }
    }
    return error;
}

void model_settle(uint8_t *medium, const struct pending *pending)
{
    memcpy(medium + pending->sector * BLOCKLOG_SECTOR, pending->data, BLOCKLOG_SECTOR);
}

/* A flush that fails forgets: some of what was to be written never will be, and reads see that. */
static int model_flush(void *context)
{
    struct model *model = context;
    model->flushing = true;
    int error = operation(model);

    model->flushing = false;
    for (size_t i = 0; i < model->pendings; i++) {
        if (!error || model_random(model, 2)) {
            model_settle(model->medium, &model->pending[i]);
        }
    }
    if (error) {
        memcpy(model->now, model->medium, model->disk.sectors * BLOCKLOG_SECTOR);
    }
    model->pendings = 0;
    return error;
}

void model_begin(struct model *model, uint64_t sectors, uint64_t seed)
{
    *model = (struct model){.disk = {.sectors = sectors,
                                     .physical_bytes = BLOCKLOG_SECTOR,
                                     .read = model_read,
                                     .write = model_write,
                                     .flush = model_flush},
                            .error = -EIO,
                            .random = seed * 0x9e3779b97f4a7c15u + 88172645463325252u};
    model->disk.context = model;
    model->medium = calloc(sectors, BLOCKLOG_SECTOR);
    model->now = calloc(sectors, BLOCKLOG_SECTOR);
}

void model_end(struct model *model)
{
    free(model->medium);
    free(model->now);
    free(model->pending);
}

void model_cut(struct model *model, uint8_t *image)
{
    uint64_t chance = model_random(model, 5); /* of 4, that one is there: none, some, all */

    memcpy(image, model->medium, model->disk.sectors * BLOCKLOG_SECTOR);
    for (size_t i = 0; i < model->pendings; i++) {
        if (model_random(model, 4) < chance) {
            model_settle(image, &model->pending[i]);
        }
    }
}

void model_from(struct model *model, const uint8_t *image, uint64_t sectors, uint64_t seed)
{
    model_begin(model, sectors, seed);
    memcpy(model->medium, image, sectors * BLOCKLOG_SECTOR);
    memcpy(model->now, image, sectors * BLOCKLOG_SECTOR);
}
