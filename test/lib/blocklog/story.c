/* SPDX-License-Identifier: BSD-2-Clause */
/* See story.h. */
#include "test/lib/blocklog/story.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/extract/captures.h"
#include "lib/blocklog/sectors.h"

bool story_begin(struct story *story, struct model *model, uint64_t sectors, uint64_t seed)
{
    model_begin(model, sectors, seed);
    *story = (struct story){.model = model};
    bool good = blocklog_format(&story->log, &model->disk, seed + 1) == 0;

    story->log.reclaims = true;
    return good;
}

bool story_record_one(struct blocklog *log, const char *name)
{
    return blocklog_begin(log, name, 0) == 0 && blocklog_append(log, "abc", 3, 0, 0) == 0 &&
           blocklog_end(log) == 0;
}

int story_count(void *bytes, const void *data, size_t more)
{
    (void)data;
    *(uint64_t *)bytes += more;
    return 0;
}

void story_bytes(uint64_t seed, uint8_t *data, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        data[i] = (uint8_t)(seed >> 56);
    }
}

static struct told *current(struct story *story)
{
    return &story->told[story->captures - 1];
}

static bool reclaim(struct story *story)
{
    int result = blocklog_reclaim(&story->log);

    story->reclaimed += result == 0;
    return result == 0 || result == -EIO || result == -ENOENT || result == -ENOSPC;
}

static bool begin(struct story *story)
{
    char name[32];

    if (story->captures == STORY_CAPTURES) {
        return true;
    }
    snprintf(name, sizeof(name), "capture-%u.kev", story->captures);
    int result = blocklog_begin(&story->log, name, 1000 + story->captures);
    if (result == -ENOSPC) {
        return reclaim(story);
    }
    if (result == 0) {
        story->told[story->captures++] = (struct told){.begin = story->log.begin};
    }
    story->failed += result == -EIO;
    return result == 0 || result == -EIO;
}

static uint32_t some_bytes(struct story *story)
{
    if (story->whole_buffers && model_random(story->model, 3) == 0) {
        return BLOCKLOG_DATA_BYTES;
    }
    return 1 + (uint32_t)model_random(story->model,
                                      model_random(story->model, 4) ? 1500 : BLOCKLOG_DATA_BYTES);
}

static void make(struct story *story, struct blocklog_buffer *buffer, unsigned i)
{
    struct told *told = current(story);
    uint64_t seed = model_random(story->model, UINT32_MAX);
    uint32_t bytes = some_bytes(story);

    story_bytes(seed, story->data[i], bytes);
    *buffer = (struct blocklog_buffer){story->data[i], bytes, bytes / 16, 1, 0, 0};
    told->seed[told->records] = seed;
    told->bytes[told->records] = bytes;
    told->acknowledged[told->records++] = false;
}

static bool account(struct story *story, const struct blocklog_buffer *buffer, unsigned record)
{
    int result = buffer->result;

    current(story)->acknowledged[record] = result == 0;
    story->acknowledged += result == 0;
    current(story)->lost += result != 0 ? buffer->slots : 0;
    story->failed += result == -EIO;
    return result == 0 || result == -EIO || result == -ENOSPC;
}

/* One or several. */
static bool append(struct story *story)
{
    struct blocklog_buffer buffers[BLOCKLOG_TOGETHER];
    unsigned most = story->whole_buffers ? 3 : BLOCKLOG_TOGETHER;
    unsigned count =
        model_random(story->model, 3) ? 1 : (unsigned)model_random(story->model, most) + 1;
    unsigned record = current(story)->records;
    bool good = true;

    if (record + count > STORY_RECORDS) {
        return true;
    }
    for (unsigned i = 0; i < count; i++) {
        make(story, &buffers[i], i);
    }
    blocklog_append_all(&story->log, buffers, count);
    story->together += count > 1 && buffers[0].result == 0;
    bool full = false;
    for (unsigned i = 0; i < count; i++) {
        good &= account(story, &buffers[i], record + i);
        full |= buffers[i].result == -ENOSPC;
    }
    return full && !story->log.reclaims ? reclaim(story) && good : good;
}

static bool end(struct story *story)
{
    int result = blocklog_end(&story->log);

    current(story)->ended = result == 0;
    return result == 0 || result == -EIO || result == -ENOSPC;
}

bool story_step(struct story *story)
{
    uint64_t what = model_random(story->model, 12);

    if (!story->log.recording) {
        return begin(story);
    }
    if (what == 0) {
        return end(story);
    }
    if (what == 1) { /* the logger was killed */
        story->log.recording = false;
        return true;
    }
    return append(story);
}

struct reading {
    const struct told *told;
    uint8_t *all;
    size_t at;
};

static int take(void *context, const void *data, size_t bytes)
{
    struct reading *reading = context;

    reading->all = realloc(reading->all, reading->at + bytes);
    memcpy(reading->all + reading->at, data, bytes);
    reading->at += bytes;
    return 0;
}

/* The acknowledged records, in order. One that failed may be there; and after them the one that
 * wasn't acknowledged yet. */
static bool same(const struct told *told, const struct reading *reading)
{
    uint8_t *data = malloc(BLOCKLOG_DATA_BYTES);
    size_t at = 0;
    bool good = true;

    for (unsigned i = 0; i < told->records && good; i++) {
        story_bytes(told->seed[i], data, told->bytes[i]);
        bool there = at + told->bytes[i] <= reading->at &&
                     memcmp(reading->all + at, data, told->bytes[i]) == 0;

        good = there || !told->acknowledged[i];
        at += there ? told->bytes[i] : 0;
    }
    free(data);
    return good;
}

static bool complain(const char *what, unsigned capture)
{
    printf("capture %u: %s\n", capture, what);
    return false;
}

static bool capture_holds(const struct story *story, struct blocklog *log,
                          const struct extract_list *list, unsigned i)
{
    const struct told *told = &story->told[i];
    struct extract_capture *found = NULL;
    struct reading reading = {.told = told};

    for (size_t k = 0; k < list->count; k++) {
        found = list->capture[k].begin == told->begin ? &list->capture[k] : found;
    }
    if (!found) {
        return complain("is not there", i);
    }
    if (told->ended && !found->whole) {
        return complain("has lost its end", i);
    }
    if (told->ended && found->lost != told->lost) {
        return complain("does not say how many slots were lost", i);
    }
    int result = extract_read(log, found, take, &reading);
    bool good = result == 0 && found->damaged == 0 && same(told, &reading);
    free(reading.all);
    return good ? true : complain("is not what was acknowledged", i);
}

/* What is there is sound, also what is about to be reclaimed. */
static bool all_sound(struct blocklog *log, const struct extract_list *list)
{
    for (size_t k = 0; k < list->count; k++) {
        struct reading reading = {0};
        int result = extract_read(log, &list->capture[k], take, &reading);

        free(reading.all);
        if (result != 0 || list->capture[k].damaged != 0) {
            return complain("is damaged", (unsigned)k);
        }
    }
    return true;
}

/* Nothing is gone but what the writer has freed, or has tried to. */
static bool oldest_is_right(const struct story *story, const struct blocklog *log)
{
    return log->oldest <= story->model->freed ? true : complain("too much was freed", 0);
}

bool story_finds_the_same(struct blocklog *log, struct model *disk)
{
    static struct blocklog all;
    int result = blocklog_open(log, &disk->disk);

    for (unsigned i = 0; result == 0 && i < 2; i++) {
        disk->now[blocklog_bound_sector(&log->super, i) * BLOCKLOG_SECTOR] ^= 1;
    }
    int other = blocklog_open(&all, &disk->disk);
    for (unsigned i = 0; result == 0 && i < 2; i++) {
        disk->now[blocklog_bound_sector(&log->super, i) * BLOCKLOG_SECTOR] ^= 1;
    }
    if (other != result || (result == 0 && (all.next != log->next || all.oldest != log->oldest))) {
        printf("the bounds say %llu, the headers %llu\n", (unsigned long long)log->next,
               (unsigned long long)all.next);
        return false;
    }
    return true;
}

bool story_holds(const struct story *story, const uint8_t *image)
{
    static struct blocklog log;
    struct extract_list list;
    struct model disk;
    bool good;

    model_from(&disk, image, story->model->disk.sectors, 1);
    good = story_finds_the_same(&log, &disk) && log.disk == &disk.disk &&
           extract_list(&log, &list) == 0;
    if (good) {
        good = oldest_is_right(story, &log) && all_sound(&log, &list);
        for (unsigned i = 0; i < story->captures && good; i++) {
            good = story->told[i].begin < log.oldest || capture_holds(story, &log, &list, i);
        }
        extract_list_free(&list);
    } else {
        complain("the log does not open", 0);
    }
    model_end(&disk);
    return good;
}
