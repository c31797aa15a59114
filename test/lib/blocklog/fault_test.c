/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Disks that fail: a write or flush now and then, sectors that always do, the whole disk; disks
 * that are too small, somebody else's; images that lie. What was acknowledged is there, what
 * was not is said to be lost, nothing else happens. SEED=s replays.
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

#include "host/extract/captures.h"
#include "lib/blocklog/sectors.h"
#include "test/lib/blocklog/story.h"

#define FRAME (1 + BLOCKLOG_DATA_SECTORS)
#define SECTORS BLOCKLOG_DISK(40, 1)

static uint64_t seed;

static void begin(struct story *story, struct model *model, uint64_t how)
{
    assert_true(story_begin(story, model, SECTORS, how));
}

/* Each step one operation fails, once or several times. */
static void test_now_and_then(void **state)
{
    static struct story story;
    struct model model;
    uint64_t failed = 0, tries = 0;

    (void)state;
    for (uint64_t round = 0; round < 60; round++) {
        begin(&story, &model, seed + round);
        for (int i = 0; i < 150; i++) {
            model.fail_at = (int64_t)model_random(&model, 4);
            model.fail_times = (int64_t)model_random(&model, round % 2 ? 4 : 60);
            assert_true(story_step(&story));
            model.fail_times = 0;
        }
        tries += story.log.tries;
        failed += story.failed;
        assert_true(story_holds(&story, model.now));
        model_end(&model);
    }
    assert_true(failed > 0 && tries > failed);
}

/* Most operations fail, so that records fail whose header is there all the same. */
static void test_mostly(void **state)
{
    static struct story story;
    struct model model;
    uint64_t failed = 0, acknowledged = 0;

    (void)state;
    for (uint64_t round = 0; round < 100; round++) {
        begin(&story, &model, seed + round);
        model.fail_chance = 10 + (unsigned)model_random(&model, 4);
        for (int i = 0; i < 60; i++) {
            assert_true(story_step(&story));
        }
        failed += story.failed;
        acknowledged += story.acknowledged;
        assert_true(story_holds(&story, model.now));
        model_end(&model);
    }
    assert_true(failed > 0 && acknowledged > 0);
}

/* One sector is bad for ever: nothing is lost but the frame's place. */
static void test_bad_sector(void **state)
{
    static struct story story;
    struct model model;
    uint64_t passed_over = 0;

    (void)state;
    for (uint64_t round = 0; round < 80; round++) {
        begin(&story, &model, seed + round);
        model.bad_first = BLOCKLOG_FIRST + model_random(&model, SECTORS - BLOCKLOG_FIRST - 1);
        model.bad_after = model.bad_first + 1;
        for (int i = 0; i < 150; i++) {
            assert_true(story_step(&story));
        }
        assert_int_equal(story.failed, 0);
        passed_over += story.log.passed_over;
        assert_true(story_holds(&story, model.now));
        model_end(&model);
    }
    assert_true(passed_over > 0);
}

static void test_gone(void **state)
{
    static struct story story;
    struct model model;

    (void)state;
    begin(&story, &model, seed);
    assert_int_equal(blocklog_begin(&story.log, "x", 0), 0);
    model.error = -ENODEV;
    model.fail_times = INT64_MAX;
    uint64_t before = model.operations;
    assert_int_equal(blocklog_append(&story.log, "abc", 3, 0, 0), -ENODEV);
    assert_int_equal(model.operations, before + 1);
    assert_int_equal(blocklog_end(&story.log), -ENODEV);
    model_end(&model);
}

static void test_not_a_log(void **state)
{
    static struct blocklog log;
    struct model model;

    (void)state;
    model_begin(&model, SECTORS, seed);
    assert_int_equal(blocklog_open(&log, &model.disk), -EILSEQ);
    assert_int_equal(blocklog_format(&log, &model.disk, 1), 0);
    memset(model.now, 0x5a, BLOCKLOG_SECTOR); /* the copy will do */
    assert_int_equal(blocklog_open(&log, &model.disk), 0);
    memset(model.now + (SECTORS - 1) * BLOCKLOG_SECTOR, 0x5a, BLOCKLOG_SECTOR);
    assert_int_equal(blocklog_open(&log, &model.disk), -EILSEQ);
    model_end(&model);
    model_begin(&model, BLOCKLOG_DISK(BLOCKLOG_FRAMES_LEAST - 1, 1), seed);
    assert_int_equal(blocklog_format(&log, &model.disk, 1), -ENOSPC);
    model_end(&model);
}

/* With the same number twice, as a machine without a clock may give it: the old log is gone. */
static void test_format_again(void **state)
{
    static struct blocklog log;
    struct model model;

    (void)state;
    model_begin(&model, SECTORS, seed);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(blocklog_format(&log, &model.disk, 1), 0);
        assert_int_equal(blocklog_open(&log, &model.disk), 0);
        assert_int_equal(log.next, 0);
        assert_true(story_record_one(&log, "x"));
    }
    model_end(&model);
}

/* A medium of larger sectors: a header shares none with data. */
static void test_large_sectors(void **state)
{
    static struct blocklog log;
    static uint8_t data[BLOCKLOG_DATA_BYTES];
    struct blocklog_header header;
    struct model model;
    uint32_t bytes;

    (void)state;
    model_begin(&model, BLOCKLOG_DISK(40, 8), seed);
    model.disk.physical_bytes = 4096;
    assert_int_equal(blocklog_format(&log, &model.disk, 1), 0);
    assert_int_equal(blocklog_open(&log, &model.disk), 0);
    assert_int_equal(log.super.header_sectors, 8);
    assert_int_equal(blocklog_begin(&log, "x", 0), 0);
    assert_int_equal(blocklog_append(&log, "abcd", 4, 0, 0), 0);
    assert_int_equal(blocklog_header(&log, 1, &header), 0);
    assert_int_equal(blocklog_data(&log, &header, 0, data, &bytes), 0);
    assert_int_equal(bytes, 4);
    assert_memory_equal(data, "abcd", 4);
    assert_memory_equal(model.now + (BLOCKLOG_FIRST + 40 + 8) * BLOCKLOG_SECTOR, "abcd", 4);
    model_end(&model);
}

/* The newest headers can't be read today: they are not overwritten. */
static void test_unreadable_end(void **state)
{
    static struct blocklog log, again;
    struct blocklog_header header;
    struct model model;

    (void)state;
    model_begin(&model, SECTORS, seed);
    assert_int_equal(blocklog_format(&log, &model.disk, 1), 0);
    assert_int_equal(blocklog_open(&log, &model.disk), 0);
    assert_int_equal(blocklog_begin(&log, "x", 0), 0);
    assert_int_equal(blocklog_append(&log, "abcd", 4, 0, 0), 0);
    model.bad_to_read = true;
    model.bad_first = BLOCKLOG_FIRST + FRAME;
    model.bad_after = model.bad_first + 1;
    assert_int_equal(blocklog_open(&again, &model.disk), 0);
    assert_int_equal(again.next, 2);
    assert_int_equal(blocklog_header(&again, 1, &header), -EIO);
    model_end(&model);
}

/* Its acknowledgement failed, so it is there twice. */
static bool record_twice(struct blocklog *log, struct model *model)
{
    struct blocklog_header header;

    assert_int_equal(blocklog_format(log, &model->disk, 1), 0);
    assert_int_equal(blocklog_open(log, &model->disk), 0);
    assert_int_equal(blocklog_begin(log, "x", 0), 0);
    model->fail_at = 3; /* the header's flush, then both times the data's write */
    model->fail_times = 3;
    assert_int_equal(blocklog_append(log, "abcd", 4, 0, 0), 0);
    assert_int_equal(blocklog_append(log, "efgh", 4, 0, 0), 0);
    return blocklog_header(log, 1, &header) == 0 && blocklog_header(log, 2, &header) == 0;
}

static void spoil(const struct blocklog *log, struct model *model, uint64_t record)
{
    model->now[(blocklog_frame_sector(&log->super, record) + 1) * BLOCKLOG_SECTOR] ^= 1;
}

static void expect_read(struct blocklog *log, uint64_t bytes, uint64_t damaged)
{
    struct extract_list list;
    uint64_t got = 0;

    assert_int_equal(extract_list(log, &list), 0);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.capture[0].bytes, 8);
    assert_int_equal(extract_read(log, &list.capture[0], story_count, &got), 0);
    assert_int_equal(got, bytes);
    assert_int_equal(list.capture[0].damaged, damaged);
    extract_list_free(&list);
}

/* One of the two will do; they count once. */
static void test_second_copy(void **state)
{
    static struct blocklog log;
    struct model model;
    bool twice = false;

    (void)state;
    for (uint64_t i = 0; !twice; i++) {
        assert_true(i < 100);
        model_begin(&model, SECTORS, seed + i);
        twice = record_twice(&log, &model);
        if (!twice) {
            model_end(&model);
        }
    }
    expect_read(&log, 8, 0);
    spoil(&log, &model, 1);
    expect_read(&log, 8, 0);
    spoil(&log, &model, 2);
    expect_read(&log, 4, 4);
    spoil(&log, &model, 1);
    expect_read(&log, 8, 0);
    spoil(&log, &model, 3);
    expect_read(&log, 4, 4);
    model_end(&model);
}

#define RECORD 64 /* bytes of a record, all of them its number */

struct numbers {
    unsigned last;
    bool there[256];
};

/* For extract_read(): each record once, in order. */
static int take_numbers(void *context, const void *data, size_t bytes)
{
    struct numbers *numbers = context;
    const uint8_t *byte = data;

    for (size_t i = 0; i < bytes; i++) {
        assert_int_equal(byte[i], byte[i / RECORD * RECORD]);
        if (i % RECORD == 0) {
            assert_true(byte[i] > numbers->last);
            numbers->last = byte[i];
            numbers->there[byte[i]] = true;
        }
    }
    return 0;
}

/* A capture fills the disk but for `room` frames. Then several buffers at once, of which an
 * operation fails; what says of their loss has a place kept for it. *refused: by the full disk. */
static void fill_and_fail(struct blocklog *log, struct model *model, struct numbers *said,
                          uint64_t *refused)
{
    static uint8_t data[256][RECORD];
    struct blocklog_buffer buffers[BLOCKLOG_TOGETHER];
    uint64_t room = model_random(model, 8);
    unsigned n = 1, count = 2 + (unsigned)model_random(model, 4);

    for (unsigned i = 0; i < 256; i++) {
        memset(data[i], (int)i, RECORD);
    }
    assert_int_equal(blocklog_begin(log, "x", 0), 0);
    for (; blocklog_room(log) > room; n++) {
        assert_int_equal(blocklog_append(log, data[n], RECORD, 4, 0), 0);
        said->there[n] = true;
    }
    for (unsigned i = 0; i < count; i++) {
        buffers[i] = (struct blocklog_buffer){data[n + i], RECORD, 4, 0, 0, 0};
    }
    model->fail_at = (int64_t)model_random(model, count + 4);
    model->fail_times = 1 + (int64_t)model_random(model, 3);
    blocklog_append_all(log, buffers, count);
    model->fail_times = 0;
    for (unsigned i = 0; i < count; i++) {
        said->there[n + i] = buffers[i].result == 0;
        *refused += buffers[i].result == -ENOSPC;
        blocklog_lose(log, buffers[i].result == 0 ? 0 : 4);
    }
    assert_int_equal(blocklog_append_last(log, data[255], RECORD), 0);
    said->there[255] = true;
    assert_int_equal(blocklog_end(log), 0);
}

static void test_full_and_failing(void **state)
{
    static struct blocklog log;
    uint64_t refused = 0;

    (void)state;
    for (uint64_t round = 0; round < 400; round++) {
        struct numbers said = {0}, found = {0};
        struct extract_list list;
        struct model model;

        model_begin(&model, SECTORS, seed + round);
        assert_int_equal(blocklog_format(&log, &model.disk, seed + round), 0);
        fill_and_fail(&log, &model, &said, &refused);
        assert_int_equal(blocklog_open(&log, &model.disk), 0);
        assert_int_equal(extract_list(&log, &list), 0);
        assert_int_equal(list.count, 1);
        assert_int_equal(extract_read(&log, &list.capture[0], take_numbers, &found), 0);
        assert_true(list.capture[0].whole && list.capture[0].damaged == 0);
        for (unsigned i = 0; i < 256; i++) {
            assert_true(found.there[i] || !said.there[i]);
        }
        extract_list_free(&list);
        model_end(&model);
    }
    assert_true(refused > 20);
}

/* As version 1 wrote it: one piece, not in the table. */
static void make_old(uint8_t *sector)
{
    struct blocklog_header header;

    memcpy(&header, sector, sizeof(header));
    header.data_crc = header.piece[0].crc;
    header.cpu = header.piece[0].cpu;
    header.pieces = 0;
    memset(header.piece, 0, sizeof(header.piece));
    header.crc = blocklog_crc(&header, sizeof(header) - sizeof(header.crc));
    memcpy(sector, &header, sizeof(header));
}

static void test_version_1(void **state)
{
    static struct blocklog log;
    struct blocklog_super super;
    struct model model;

    (void)state;
    model_begin(&model, SECTORS, seed);
    assert_int_equal(blocklog_format(&log, &model.disk, 1), 0);
    memcpy(&super, model.now, sizeof(super));
    super.version = 1;
    super.crc = blocklog_crc(&super, sizeof(super) - sizeof(super.crc));
    memcpy(model.now, &super, sizeof(super));
    assert_int_equal(blocklog_open(&log, &model.disk), 0);
    assert_int_equal(blocklog_begin(&log, "x", 0), 0);
    assert_int_equal(blocklog_append(&log, "abcd", 4, 0, 0), 0);
    make_old(model.now + (BLOCKLOG_FIRST_OLD + FRAME) * BLOCKLOG_SECTOR);
    assert_int_equal(blocklog_open(&log, &model.disk), 0);
    log.recording = true;
    log.offset = 4;
    assert_int_equal(blocklog_append(&log, "efgh", 4, 0, 0), 0);
    expect_read(&log, 8, 0);
    spoil(&log, &model, 1);
    expect_read(&log, 4, 4);
    super.version = BLOCKLOG_VERSION + 1;
    super.crc = blocklog_crc(&super, sizeof(super) - sizeof(super.crc));
    memcpy(model.now, &super, sizeof(super));
    memcpy(model.now + (SECTORS - 1) * BLOCKLOG_SECTOR, &super, sizeof(super));
    assert_int_equal(blocklog_open(&log, &model.disk), -EILSEQ);
    model_end(&model);
}

/* A header that lies, with a sound check. */
static void lie(struct model *model, uint8_t *image)
{
    const uint64_t others[] = {0, SECTORS - 1, 8, SECTORS - 9};
    uint64_t sector = model_random(model, 3) ? BLOCKLOG_FIRST + model_random(model, 40) * FRAME
                                             : others[model_random(model, 4)];
    uint8_t *at = image + sector * BLOCKLOG_SECTOR;
    uint64_t word = model_random(model, 4) ? model_random(model, 64) : ~UINT64_C(0);
    uint32_t crc;

    memcpy(at + 4 * model_random(model, 22), &word, model_random(model, 2) ? 4 : 8);
    crc = blocklog_crc(at, BLOCKLOG_SECTOR - 4);
    memcpy(at + BLOCKLOG_SECTOR - 4, &crc, 4);
}

static void read_all(const uint8_t *image)
{
    static struct blocklog log;
    struct extract_list list;
    struct model disk;
    uint64_t bytes = 0;

    model_from(&disk, image, SECTORS, 1);
    if (blocklog_open(&log, &disk.disk) == 0) {
        assert_int_equal(extract_list(&log, &list), 0);
        for (size_t i = 0; i < list.count; i++) {
            extract_read(&log, &list.capture[i], story_count, &bytes);
        }
        extract_list_free(&list);
        assert_true(bytes <= (uint64_t)SECTORS * BLOCKLOG_SECTOR);
        if (blocklog_begin(&log, "after", 0) == 0) {
            blocklog_append(&log, "abc", 3, 0, 0);
            blocklog_end(&log);
        }
        blocklog_reclaim(&log);
    }
    model_end(&disk);
}

static void test_lies(void **state)
{
    static struct story story;
    struct model model;
    uint8_t *image = malloc((size_t)SECTORS * BLOCKLOG_SECTOR);

    (void)state;
    for (uint64_t round = 0; round < 4; round++) {
        begin(&story, &model, seed + round);
        for (int i = 0; i < 100; i++) {
            assert_true(story_step(&story));
        }
        for (int i = 0; i < 400; i++) {
            memcpy(image, model.now, (size_t)SECTORS * BLOCKLOG_SECTOR);
            for (uint64_t n = 1 + model_random(&model, 4); n > 0; n--) {
                lie(&model, image);
            }
            read_all(image);
        }
        model_end(&model);
    }
    free(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_now_and_then),  cmocka_unit_test(test_bad_sector),
        cmocka_unit_test(test_mostly),        cmocka_unit_test(test_gone),
        cmocka_unit_test(test_not_a_log),     cmocka_unit_test(test_format_again),
        cmocka_unit_test(test_large_sectors), cmocka_unit_test(test_unreadable_end),
        cmocka_unit_test(test_second_copy),   cmocka_unit_test(test_version_1),
        cmocka_unit_test(test_lies),          cmocka_unit_test(test_full_and_failing),
    };
    const char *text = getenv("SEED");

    seed = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);
    printf("SEED=%llu\n", (unsigned long long)seed);
    fflush(stdout);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
