/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The log's end, found by the bounds and found in all headers, is the same: on disks damaged at
 * random, with sectors that can't be read, with bounds that could not be written; and by the bounds
 * it takes few reads. What --reclaim frees is what reading record by record says. SEED=s replays.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "lib/blocklog/sectors.h"
#include "test/lib/blocklog/story.h"

#define SECTORS BLOCKLOG_DISK(40, 1)
#define LARGE_FRAMES 15000u /* a quarter of a GB */
#define LARGE BLOCKLOG_DISK(LARGE_FRAMES, 1)

static uint64_t seed;

/* A bit, a sector of zeros or of noise, a stretch that can't be read. */
static void damage(struct model *disk)
{
    uint64_t sector = model_random(disk, 4)
                          ? BLOCKLOG_FIRST + model_random(disk, 40) * (1 + BLOCKLOG_DATA_SECTORS)
                          : 1 + model_random(disk, SECTORS - 2);
    uint8_t *at = disk->now + sector * BLOCKLOG_SECTOR;

    switch (model_random(disk, 4)) {
    case 0:
        at[model_random(disk, BLOCKLOG_SECTOR)] ^= (uint8_t)(1u << model_random(disk, 8));
        break;
    case 1:
        memset(at, 0, BLOCKLOG_SECTOR);
        break;
    case 2:
        story_bytes(model_random(disk, 1000), at, BLOCKLOG_SECTOR);
        break;
    default:
        disk->bad_to_read = true;
        disk->bad_first = sector;
        disk->bad_after = sector + 1 + model_random(disk, 100);
    }
}

/* Where the second capture begins, record by record. */
static uint64_t second_begin(struct blocklog *log)
{
    struct blocklog_header header;
    uint64_t at, first = 0;
    bool any = false;

    for (at = log->oldest; at < log->next; at++) {
        if (blocklog_header(log, at, &header) != 0 || header.kind == BLOCKLOG_RECLAIM) {
            continue;
        }
        if (any && header.begin != first) {
            break;
        }
        first = header.begin;
        any = true;
    }
    return at;
}

static void reclaims_the_same(struct blocklog *log)
{
    uint64_t was = log->oldest, expected = second_begin(log);
    int result = blocklog_reclaim(log);

    if (result == 0) {
        assert_int_equal(log->oldest, expected);
    } else if (result == -ENOENT) {
        assert_int_equal(expected, was);
    }
}

static void look(const struct model *model, uint64_t how, uint64_t *by_bound)
{
    static struct blocklog log;
    struct model disk;

    model_from(&disk, model->now, SECTORS, how);
    for (uint64_t n = model_random(&disk, 8); n > 0; n--) {
        damage(&disk);
    }
    if (disk.bad_first == 0 || disk.bad_after < SECTORS) {
        assert_true(story_finds_the_same(&log, &disk));
        *by_bound += log.bound[0] != 0 && log.bound[1] != 0;
        reclaims_the_same(&log);
    }
    model_end(&disk);
}

static void test_damaged(void **state)
{
    static struct story story;
    struct model model;
    uint64_t by_bound = 0;

    (void)state;
    for (uint64_t round = 0; round < 8; round++) {
        assert_true(story_begin(&story, &model, SECTORS, seed + round));
        model.fail_chance = round % 2 ? 3 : 0;
        for (int i = 0; i < 200; i++) {
            assert_true(story_step(&story));
            look(&model, seed + round * 1000 + (uint64_t)i, &by_bound);
        }
        model_end(&model);
    }
    assert_true(by_bound > 400);
}

static uint64_t reads_to_open(struct model *model)
{
    static struct blocklog log;
    uint64_t before = model->reads;

    assert_int_equal(blocklog_open(&log, &model->disk), 0);
    return model->reads - before;
}

/* At any fill of the disk, also when it has gone round. */
static void test_reads(void **state)
{
    static struct blocklog log;
    static const uint8_t data[64];
    struct model model;
    uint64_t most = 0;

    (void)state;
    model_begin(&model, LARGE, seed);
    assert_int_equal(blocklog_format(&log, &model.disk, 1), 0);
    log.reclaims = true;
    for (unsigned i = 0; i < 3 * LARGE_FRAMES; i++) {
        if (i % 5000 == 0) {
            assert_true(i == 0 || blocklog_end(&log) == 0);
            assert_int_equal(blocklog_begin(&log, "x", 0), 0);
        }
        assert_int_equal(blocklog_append(&log, data, sizeof(data), 4, 0), 0);
        if (i % 977 == 0) {
            uint64_t reads = reads_to_open(&model);

            most = reads > most ? reads : most;
        }
    }
    printf("%u frames: at most %llu reads\n", LARGE_FRAMES, (unsigned long long)most);
    assert_true(most < 300);
    model.now[8 * BLOCKLOG_SECTOR] ^= 1; /* a bound is damaged: all headers, once */
    assert_true(reads_to_open(&model) >= LARGE_FRAMES);
    assert_int_equal(blocklog_open(&log, &model.disk), 0);
    log.reclaims = true;
    assert_int_equal(blocklog_begin(&log, "y", 0), 0);
    for (int i = 0; i < 300; i++) {
        assert_int_equal(blocklog_append(&log, data, sizeof(data), 4, 0), 0);
    }
    assert_true(reads_to_open(&model) < 300);
    model_end(&model);
}

/* What can't be covered isn't acknowledged; one place for the bound will do. */
static void test_bad_places(void **state)
{
    static struct story story;
    struct model model;

    (void)state;
    for (uint64_t i = 0; i < 3; i++) {
        assert_true(story_begin(&story, &model, SECTORS, seed + i));
        struct blocklog *log = &story.log;
        model.bad_first = blocklog_bound_sector(&log->super, i == 1);
        model.bad_after = i < 2 ? model.bad_first + 1 : SECTORS;
        if (i == 2) { /* the frames and both */
            assert_int_equal(blocklog_begin(log, "x", 0), -EIO);
            assert_int_equal(log->next, 0);
        } else {
            for (int k = 0; k < 200; k++) {
                assert_true(story_step(&story));
            }
            assert_int_equal(story.failed, 0);
            assert_true(story.acknowledged > 50 && log->tries > 0);
            assert_true(story_holds(&story, model.now));
        }
        model_end(&model);
    }
}

/* A disk of version 2 goes on without bounds. */
static void test_version_2(void **state)
{
    static struct blocklog log;
    struct blocklog_super super;
    struct model model;

    (void)state;
    model_begin(&model, SECTORS, seed);
    assert_int_equal(blocklog_format(&log, &model.disk, 1), 0);
    memcpy(&super, model.now, sizeof(super));
    super.version = 2;
    super.crc = blocklog_crc(&super, sizeof(super) - sizeof(super.crc));
    memcpy(model.now, &super, sizeof(super));
    memcpy(model.now + (SECTORS - 1) * BLOCKLOG_SECTOR, &super, sizeof(super));
    for (unsigned i = 0; i < 9; i++) {
        assert_int_equal(blocklog_open(&log, &model.disk), 0);
        assert_int_equal(log.next, 3 * i);
        assert_true(story_record_one(&log, "x"));
    }
    assert_int_equal(blocklog_frame_sector(&log.super, 0), BLOCKLOG_FIRST_OLD);
    assert_true(reads_to_open(&model) >= 40);
    model_end(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_reads),
        cmocka_unit_test(test_bad_places),
        cmocka_unit_test(test_version_2),
    };
    const char *text = getenv("SEED");

    seed = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);
    printf("SEED=%llu\n", (unsigned long long)seed);
    fflush(stdout);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
