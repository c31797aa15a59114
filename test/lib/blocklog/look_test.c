/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether captures are on a disk, which tracelogger asks before it makes the disk anew: never "no"
 * while a sound record, or a sound sector that says what the disk is, is anywhere on it.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "test/lib/blocklog/story.h"

#define SECTORS BLOCKLOG_DISK(40, 1)

static struct blocklog log;
static struct model model;

static int holds(void)
{
    static struct blocklog other;
    static _Alignas(8) uint8_t room[BLOCKLOG_DATA_BYTES];

    return blocklog_holds_captures(&other, &model.disk, room);
}

static void wipe(uint64_t sector)
{
    memset(model.now + sector * BLOCKLOG_SECTOR, 0, BLOCKLOG_SECTOR);
}

static int setup(void **state)
{
    (void)state;
    memset(&model, 0, sizeof(model));
    model_begin(&model, SECTORS, 1);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    model_end(&model);
    return 0;
}

static void test_empty(void **state)
{
    (void)state;
    assert_int_equal(holds(), 0);
    assert_int_equal(blocklog_format(&log, &model.disk, 7), 0);
    assert_int_equal(holds(), 0);
    wipe(0);
    wipe(SECTORS - 1);
    assert_int_equal(holds(), 0);
}

static void test_captures(void **state)
{
    (void)state;
    assert_int_equal(blocklog_format(&log, &model.disk, 7), 0);
    assert_true(story_record_one(&log, "one"));
    assert_int_equal(holds(), 1);
    assert_int_equal(blocklog_reclaim(&log), 0);
    assert_int_equal(holds(), 0);
    assert_true(story_record_one(&log, "two"));
    assert_int_equal(holds(), 1);
}

static void test_damaged_ends(void **state)
{
    (void)state;
    for (int ends = 1; ends < 4; ends++) {
        assert_int_equal(blocklog_format(&log, &model.disk, 7), 0);
        assert_true(story_record_one(&log, "one"));
        if (ends & 1) {
            wipe(0);
        }
        if (ends & 2) {
            wipe(SECTORS - 1);
        }
        assert_int_equal(holds(), 1);
    }
    wipe(BLOCKLOG_FIRST); /* nor its first record */
    assert_int_equal(holds(), 1);
}

/* One sound sector of a log is enough, whichever it is and wherever a copy has moved it; the others
 * are zeros, noise or can't be read. Without it there is none. */
static void test_any_sector(void **state)
{
    uint8_t *was = malloc(SECTORS * BLOCKLOG_SECTOR);
    unsigned sound = 0;

    (void)state;
    assert_int_equal(blocklog_format(&log, &model.disk, 7), 0);
    for (unsigned i = 0; i < 10; i++) {
        assert_true(story_record_one(&log, "one"));
    }
    memcpy(was, model.now, SECTORS * BLOCKLOG_SECTOR);
    for (uint64_t from = 0; from < SECTORS; from++) {
        const void *sector = was + from * BLOCKLOG_SECTOR;
        uint64_t to = (from * 7919 + 13) % SECTORS;
        bool is = blocklog_header_is_sound(sector) || blocklog_super_is_sound(sector);

        memset(model.now, from % 3 == 0 ? 0xa5 : 0, SECTORS * BLOCKLOG_SECTOR);
        assert_int_equal(holds(), 0);
        memcpy(model.now + to * BLOCKLOG_SECTOR, sector, BLOCKLOG_SECTOR);
        model.bad_to_read = true; /* others that are read with it */
        model.bad_first = to > 5 ? to - 5 : to + 1;
        model.bad_after = to > 5 ? to : to + 3;
        assert_int_equal(holds(), is);
        model.bad_first = model.bad_after = 0;
        sound += is;
    }
    assert_true(sound >= 10 * 3 + 2);
    free(was);
}

static void test_shorter(void **state)
{
    struct blocklog other;

    (void)state;
    assert_int_equal(blocklog_format(&log, &model.disk, 7), 0);
    assert_true(story_record_one(&log, "one"));
    model.disk.sectors--;
    assert_int_equal(blocklog_open(&other, &model.disk), -EFBIG);
    assert_int_equal(holds(), 1);
    assert_int_equal(blocklog_format(&other, &model.disk, 7), 0);
    assert_true(other.super.id > log.super.id); /* no record of the larger log counts */
    assert_int_equal(holds(), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_empty), TEST(test_captures),
                                       TEST(test_damaged_ends), TEST(test_any_sector),
                                       TEST(test_shorter)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
