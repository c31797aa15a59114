/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Disks that are full, and making room on them: the end and what was lost have a place, the oldest
 * capture alone is freed, and not before the medium says so. SEED=s replays.
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
#include "test/lib/blocklog/story.h"

#define FRAME (1 + BLOCKLOG_DATA_SECTORS)
#define SECTORS BLOCKLOG_DISK(40, 1)

static uint64_t seed;

static void begin(struct story *story, struct model *model, uint64_t how)
{
    assert_true(story_begin(story, model, SECTORS, how));
}

static unsigned fill(struct blocklog *log)
{
    static const uint8_t data[BLOCKLOG_DATA_BYTES];
    unsigned records = 0;

    while (blocklog_append(log, data, sizeof(data), 1024, 0) == 0) {
        records++;
    }
    return records;
}

/* Full is full; the end has a place; reclaiming frees the oldest, never the one in hand. */
static void test_full(void **state)
{
    static struct story story;
    struct blocklog *log = &story.log;
    struct extract_list list;
    struct model model;

    (void)state;
    begin(&story, &model, seed);
    log->reclaims = false;
    assert_int_equal(blocklog_begin(log, "first", 0), 0);
    assert_int_equal(blocklog_append(log, "abc", 3, 0, 0), 0);
    assert_int_equal(blocklog_end(log), 0);
    assert_int_equal(blocklog_begin(log, "second", 0), 0);
    uint64_t room = blocklog_room(log);
    assert_int_equal(fill(log), room);
    assert_int_equal(blocklog_append(log, "abc", 3, 0, 0), -ENOSPC);
    assert_int_equal(blocklog_reclaim(log), 0);
    assert_int_equal(fill(log), 2); /* three were freed, one says so */
    assert_int_equal(blocklog_reclaim(log), -ENOENT);
    blocklog_lose(log, 7);
    for (int i = 0; i < BLOCKLOG_LAST; i++) {
        assert_int_equal(blocklog_append_last(log, "last", 4), 0);
    }
    assert_int_equal(blocklog_append_last(log, "last", 4), -ENOSPC);
    assert_int_equal(blocklog_end(log), 0);
    assert_int_equal(blocklog_begin(log, "third", 0), -ENOSPC);
    assert_int_equal(extract_list(log, &list), 0);
    assert_int_equal(list.count, 1);
    assert_string_equal(list.capture[0].name, "second");
    assert_int_equal(list.capture[0].lost, 7);
    assert_true(list.capture[0].whole);
    assert_int_equal(list.capture[0].bytes, (room + 2) * BLOCKLOG_DATA_BYTES + BLOCKLOG_LAST * 4);
    extract_list_free(&list);
    assert_int_equal(blocklog_reclaim(log), 0);
    assert_int_equal(blocklog_begin(log, "third", 0), 0);
    assert_int_equal(blocklog_begin(log, "fourth", 0), -EINVAL);
    assert_int_equal(blocklog_append(log, "", 0, 0, 0), -EINVAL);
    assert_int_equal(blocklog_append(log, "", BLOCKLOG_DATA_BYTES + 1, 0, 0), -EINVAL);
    model_end(&model);
}

/* Two captures on a full disk, of whose spare frames so many are bad. */
static void nearly_stuck(struct story *story, struct model *model, unsigned bad)
{
    struct blocklog *log = &story->log;

    begin(story, model, seed);
    log->reclaims = false;
    assert_int_equal(blocklog_begin(log, "first", 0), 0);
    assert_int_equal(blocklog_append(log, "abc", 3, 0, 0), 0);
    assert_int_equal(blocklog_append(log, "def", 3, 0, 0), 0);
    assert_int_equal(blocklog_end(log), 0);
    assert_int_equal(blocklog_begin(log, "second", 0), 0);
    fill(log);
    model->bad_first = BLOCKLOG_FIRST + log->next % log->super.frames * FRAME;
    model->bad_after = model->bad_first + bad * FRAME;
}

static void first_is_there(struct model *model, size_t captures)
{
    static struct blocklog log;
    struct extract_list list;
    uint64_t bytes = 0;

    assert_int_equal(blocklog_open(&log, &model->disk), 0);
    assert_int_equal(extract_list(&log, &list), 0);
    assert_int_equal(list.count, captures);
    assert_int_equal(extract_read(&log, &list.capture[0], story_count, &bytes), 0);
    assert_int_equal(list.capture[0].damaged, 0);
    assert_true(captures == 1 || bytes == 6);
    extract_list_free(&list);
}

/* If no frame is left to say that the oldest is gone, it isn't. */
static void test_reclaim_without_a_place(void **state)
{
    static struct story story;
    struct model model;

    (void)state;
    nearly_stuck(&story, &model, BLOCKLOG_SPARE);
    assert_int_not_equal(blocklog_reclaim(&story.log), 0);
    first_is_there(&model, 2);
    model_end(&model);
}

/* With the last one it is said, before the first of the freed ones is written. */
static void test_reclaim_with_the_last_place(void **state)
{
    static struct story story;
    struct model model;

    (void)state;
    nearly_stuck(&story, &model, BLOCKLOG_SPARE - 1);
    assert_int_equal(blocklog_reclaim(&story.log), 0);
    model.fail_at = 1; /* the data is written, its flush fails */
    model.fail_times = 1000;
    assert_int_not_equal(blocklog_append(&story.log, "ghi", 3, 0, 0), 0);
    first_is_there(&model, 1);
    model_end(&model);
}

/* A capture whose beginning can't be read is one all the same: the oldest alone is freed. */
static void test_reclaim_before_a_bad_header(void **state)
{
    static struct story story;
    struct extract_list list;
    struct model model;

    (void)state;
    begin(&story, &model, seed);
    for (int i = 0; i < 3; i++) {
        assert_true(story_record_one(&story.log, "x"));
    }
    model.bad_to_read = true;
    model.bad_first = BLOCKLOG_FIRST + 3 * FRAME;
    model.bad_after = model.bad_first + 1;
    assert_int_equal(blocklog_reclaim(&story.log), 0);
    assert_int_equal(extract_list(&story.log, &list), 0);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.capture[0].bytes, 3);
    extract_list_free(&list);
    model_end(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reclaim_without_a_place),
        cmocka_unit_test(test_reclaim_with_the_last_place),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_reclaim_before_a_bad_header),
    };
    const char *text = getenv("SEED");

    seed = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);
    printf("SEED=%llu\n", (unsigned long long)seed);
    fflush(stdout);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
