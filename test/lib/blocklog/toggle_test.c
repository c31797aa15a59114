/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each bit of a disk with a block log is changed in turn: its captures are what they were, or it is
 * told that a record is damaged, bytes of a capture are, or that it has no end. EVERY=n takes each
 * n-th bit of the data, from $SEED on, and of headers, descriptions and bounds 64 times as many, or
 * all if n < 100.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "host/extract/captures.h"
#include "lib/blocklog/sectors.h"
#include "test/lib/blocklog/story.h"

#define SECTORS BLOCKLOG_DISK(BLOCKLOG_FRAMES_LEAST, 1)
#define OFTEN 64

struct outcome {
    bool opened;
    uint32_t sum;
    uint64_t damaged, missing, open_ended; /* records; bytes; captures */
};

static struct model model;

static int add_bytes(void *sum, const void *data, size_t bytes)
{
    *(uint32_t *)sum = crc32c_add(*(uint32_t *)sum, data, bytes);
    return 0;
}

static struct outcome look(void)
{
    static struct blocklog log;
    struct extract_list list;
    struct outcome out = {.sum = CRC32C_START};

    out.opened = blocklog_open(&log, &model.disk) == 0 && extract_list(&log, &list) == 0;
    if (!out.opened) {
        return out;
    }
    out.damaged = list.damaged;
    for (size_t i = 0; i < list.count; i++) {
        struct extract_capture *capture = &list.capture[i];

        add_bytes(&out.sum, capture->name, sizeof(capture->name));
        add_bytes(&out.sum, &capture->time, sizeof(capture->time));
        add_bytes(&out.sum, &capture->lost, sizeof(capture->lost));
        extract_read(&log, capture, add_bytes, &out.sum);
        out.missing += capture->size - capture->bytes + capture->damaged;
        out.open_ended += !capture->whole;
    }
    extract_list_free(&list);
    return out;
}

static unsigned told, same;

static void toggle(uint64_t bit, const struct outcome *sound)
{
    model.now[bit / 8] ^= (uint8_t)(1u << bit % 8);
    struct outcome now = look();
    model.now[bit / 8] ^= (uint8_t)(1u << bit % 8);

    if (!now.opened || now.damaged > sound->damaged || now.missing > sound->missing ||
        now.open_ended > sound->open_ended) {
        told++;
    } else if (now.sum == sound->sum) {
        same++;
    } else {
        fail_msg("sector %u, bit %u: other captures, and no word of it",
                 (unsigned)(bit / 8 / BLOCKLOG_SECTOR), (unsigned)(bit % (8 * BLOCKLOG_SECTOR)));
    }
}

static bool is_special(uint64_t sector)
{
    const uint8_t *at = model.now + sector * BLOCKLOG_SECTOR;

    return blocklog_header_is_sound((const void *)at) ||
           blocklog_super_is_sound((const void *)at) || memcmp(at, BLOCKLOG_BOUND_MAGIC, 8) == 0;
}

static void toggle_disk(unsigned steps, uint32_t every, uint32_t from)
{
    static struct story story;

    assert_true(story_begin(&story, &model, SECTORS, 2));
    for (unsigned n = 0; n < steps; n++) {
        assert_true(story_step(&story));
    }
    const struct outcome sound = look();
    assert_true(sound.opened && sound.damaged == 0 && sound.missing == 0);
    told = same = 0;
    for (uint64_t sector = 0; sector < SECTORS; sector++) {
        uint32_t step = !is_special(sector) ? every : every < 100 ? 1 : every / OFTEN;

        for (uint64_t bit = from++ % step; bit < 8 * BLOCKLOG_SECTOR; bit += step) {
            toggle(8 * BLOCKLOG_SECTOR * sector + bit, &sound);
        }
    }
    printf("%u bits are told, %u have no effect\n", told, same);
    assert_true(told > 100 && same > 100);
    model_end(&model);
}

static void test_toggle(void **state)
{
    const char *every = getenv("EVERY"), *seed = getenv("SEED");
    uint32_t n = every ? (uint32_t)strtoul(every, NULL, 0) : 9001;
    uint32_t from = seed ? (uint32_t)strtoul(seed, NULL, 0) : 0;

    (void)state;
    toggle_disk(30, n, from);  /* the first lap */
    toggle_disk(150, n, from); /* a later one: records are reclaimed */
}

/* The newest record is a RECLAIM: without it, what it has deleted is there again. */
static void test_newest(void **state)
{
    static struct blocklog log;

    (void)state;
    for (unsigned records = 1; records < 7; records++) {
        model_begin(&model, SECTORS, 1);
        assert_int_equal(blocklog_format(&log, &model.disk, 7), 0);
        for (unsigned i = 0; i < records; i++) {
            assert_true(story_record_one(&log, "one"));
        }
        assert_int_equal(blocklog_reclaim(&log), 0);
        const struct outcome sound = look();
        uint64_t sector = blocklog_frame_sector(&log.super, log.next - 1);

        for (unsigned bit = records; bit < 8 * BLOCKLOG_SECTOR; bit += 61) {
            toggle(8 * BLOCKLOG_SECTOR * sector + bit, &sound);
        }
        model_end(&model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_toggle),
                                       cmocka_unit_test(test_newest)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
