/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `kymo extract` does with a disk is bounded by the disk's real size, not by what it claims:
 * sound images whose fields are changed and whose sums are made right again, then listed, read and
 * searched, as files, by the host's own code. Judged by a count: the reads for each sector that
 * exists. ROUNDS=n SEED=s makes more, and others; a failure prints what repeats it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "host/extract/captures.h"
#include "host/extract/disk.h"
#include "host/extract/scan.h"
#include "host/kymo.h"
#include "lib/blocklog/sectors.h"
#include "test/lib/blocklog/story.h"

#define SECTORS BLOCKLOG_DISK(BLOCKLOG_FRAMES_LEAST, 1)
#define READS_A_SECTOR 8
#define READS_MORE 1024
#define IMAGES 4
#define CHANGES 24 /* of one round */

/* ---- the disk ---------------------------------------------------------------------- */

static struct extract_disk file;
static struct blocklog_disk counting;
static uint64_t base, round_now, reads, reads_most;
static uint64_t worst; /* reads of one round */
static jmp_buf too_many;

static void count_read(void)
{
    if (++reads > reads_most) {
        longjmp(too_many, 1);
    }
}

static int counted_read(void *context, uint64_t sector, void *data, uint32_t sectors)
{
    count_read();
    return file.disk.read(context, sector, data, sectors);
}

static uint64_t counted_next(void *context, uint64_t sector)
{
    count_read();
    return file.disk.next(context, sector);
}

void kymo_error(const char *format, ...)
{
    (void)format; /* what disk.c refuses is no matter here */
}

/* ---- sound images ------------------------------------------------------------------ */

static struct {
    uint8_t *bytes;
    uint32_t special[2 * BLOCKLOG_FRAMES_LEAST + 8]; /* sectors whose sum can be made right again */
    uint32_t specials;
} images[IMAGES];
static struct model dice;

static uint32_t below(uint64_t n)
{
    return (uint32_t)model_random(&dice, n);
}

static bool is_bound(const uint8_t *sector)
{
    return memcmp(sector, BLOCKLOG_BOUND_MAGIC, 8) == 0;
}

static void find_special(unsigned i)
{
    for (uint32_t s = 0; s < SECTORS; s++) {
        const uint8_t *at = images[i].bytes + (size_t)s * BLOCKLOG_SECTOR;

        if (blocklog_header_is_sound((const void *)at) ||
            blocklog_super_is_sound((const void *)at) || is_bound(at)) {
            images[i].special[images[i].specials++] = s;
        }
    }
    assert_in_range(images[i].specials, 8, sizeof(images[i].special) / 4);
}

static int make_images(void **state)
{
    static struct story story;
    struct model model;

    (void)state;
    for (unsigned i = 0; i < IMAGES; i++) {
        assert_true(story_begin(&story, &model, SECTORS, 1 + i));
        story.whole_buffers = i % 2;
        model.fail_chance = i > 1 ? 2 : 0;
        for (unsigned n = 0; n < 60 + 40 * i; n++) {
            assert_true(story_step(&story));
        }
        images[i].bytes = malloc(SECTORS * BLOCKLOG_SECTOR);
        memcpy(images[i].bytes, model.now, SECTORS * BLOCKLOG_SECTOR);
        find_special(i);
        model_end(&model);
    }
    return 0;
}

/* ---- changes ----------------------------------------------------------------------- */

struct range {
    uint16_t at, bytes;
};
#define FIELD(type, name) \
    { \
        offsetof(struct type, name), sizeof(((struct type *)0)->name) \
    }
static const struct range super_fields[] = {
    FIELD(blocklog_super, version), FIELD(blocklog_super, header_sectors),
    FIELD(blocklog_super, frames), FIELD(blocklog_super, id), FIELD(blocklog_super, sectors)};
static const struct range bound_fields[] = {FIELD(blocklog_bound, id),
                                            FIELD(blocklog_bound, bound)};
static const struct range header_fields[] = {
    FIELD(blocklog_header, kind),        FIELD(blocklog_header, id),
    FIELD(blocklog_header, oldest),      FIELD(blocklog_header, begin),
    FIELD(blocklog_header, offset),      FIELD(blocklog_header, lost),
    FIELD(blocklog_header, time),        FIELD(blocklog_header, bytes),
    FIELD(blocklog_header, slots),       FIELD(blocklog_header, sequence),
    FIELD(blocklog_header, pieces),      FIELD(blocklog_header, piece[0].bytes),
    FIELD(blocklog_header, piece[0].crc)};

/* Small, near to what it was, huge, any bit; in three of four the upper bytes are those there. */
static void change_number(uint8_t *at, unsigned bytes)
{
    uint64_t value = 0;

    memcpy(&value, at, bytes);
    switch (below(6)) {
    case 0:
        value = below(4);
        break;
    case 1:
        value += below(9) - UINT64_C(4);
        break;
    case 2:
        value ^= UINT64_C(1) << below(8 * bytes);
        break;
    case 3:
        value = (UINT64_C(1) << below(63)) - below(2);
        break;
    case 4:
        value += (uint64_t)(1 + below(8)) << below(62);
        break;
    default:
        value = (uint64_t)below(UINT32_MAX) << below(32);
    }
    memcpy(at, &value, bytes);
}

static void seal(uint8_t *sector)
{
    uint32_t crc = blocklog_crc(sector, BLOCKLOG_SECTOR - 4);

    memcpy(sector + BLOCKLOG_SECTOR - 4, &crc, 4);
}

/* A header's sum has to be right, and its pieces': one piece of so many bytes then. */
static void fit_pieces(struct blocklog_header *header)
{
    uint32_t bytes = 0, slots = 0;

    header->pieces = header->pieces % (BLOCKLOG_TOGETHER + 1);
    for (uint32_t i = 0; i < header->pieces; i++) {
        struct blocklog_piece *piece = &header->piece[i];

        piece->bytes = (uint16_t)(piece->bytes % BLOCKLOG_DATA_BYTES + 1);
        bytes += piece->bytes;
        slots += piece->slots;
    }
    if (header->pieces > 0) {
        header->bytes = bytes;
        header->slots = slots;
    }
}

/* A log of more frames than the disk has; both its ends say so, or one. */
static void claim_more(uint8_t *sector)
{
    struct blocklog_super *super = (void *)sector;

    super->sectors += (uint64_t)(1 + below(1 << 20)) << below(40);
    if (below(2)) {
        super->frames = (super->sectors - 32) / (super->header_sectors + 32u);
    }
}

static void change(uint8_t *sector)
{
    const struct range *range;

    if (memcmp(sector, BLOCKLOG_SUPER_MAGIC, 8) == 0) {
        range = &super_fields[below(sizeof(super_fields) / sizeof(*super_fields))];
        if (below(2)) {
            claim_more(sector);
        } else {
            change_number(sector + range->at, range->bytes);
        }
    } else if (is_bound(sector)) {
        range = &bound_fields[below(sizeof(bound_fields) / sizeof(*bound_fields))];
        change_number(sector + range->at, range->bytes);
    } else {
        range = &header_fields[below(sizeof(header_fields) / sizeof(*header_fields))];
        change_number(sector + range->at, range->bytes);
        fit_pieces((void *)sector);
    }
    seal(sector);
}

static uint32_t changed[CHANGES];

static void put(int fd, uint32_t sector, const uint8_t *data)
{
    assert_int_equal(pwrite(fd, data, BLOCKLOG_SECTOR, (off_t)sector * BLOCKLOG_SECTOR),
                     BLOCKLOG_SECTOR);
}

/* Changes the file, which has image i. Returns the number of changes. */
static unsigned change_some(int fd, unsigned i)
{
    unsigned n = 1 + below(below(3) ? 4 : CHANGES);
    bool ends = below(2);

    for (unsigned k = 0; k < n; k++) {
        uint32_t from = images[i].special[below(images[i].specials)];
        uint8_t sector[BLOCKLOG_SECTOR];

        from = k == 0 && ends ? 0 : k == 1 && ends ? SECTORS - 1 : from;
        changed[k] = below(8) || from == 0 ? from : below(SECTORS); /* or elsewhere, as a copy */
        assert_int_equal(pread(fd, sector, sizeof(sector), (off_t)from * BLOCKLOG_SECTOR),
                         sizeof(sector));
        change(sector);
        if (below(16) == 0) {
            memset(sector, 0, sizeof(sector));
        }
        put(fd, changed[k], sector);
    }
    return n;
}

/* ---- what is done with it ---------------------------------------------------------- */

static void read_captures(struct blocklog *log)
{
    struct extract_list list;
    uint64_t bytes = 0;

    if (extract_list(log, &list) == 0) {
        for (size_t i = 0; i < list.count; i++) {
            extract_read(log, &list.capture[i], story_count, &bytes);
        }
    }
    extract_list_free(&list);
}

static void extract_by(unsigned how)
{
    static struct blocklog log;
    static _Alignas(8) uint8_t room[BLOCKLOG_DATA_BYTES];
    struct extract_scan scan = {0};
    struct blocklog_disk *disk = &counting;

    if (how == 0 && blocklog_open(&log, disk) == 0) {
        read_captures(&log);
    } else if (how == 1) {
        blocklog_holds_captures(&log, disk, room);
    } else if (how == 2 && extract_scan(&scan, &log, disk, below(3)) == 0) {
        read_captures(&log);
    }
    extract_scan_free(&scan);
}

static void look(const char *path, uint64_t sectors)
{
    if (extract_disk_open(&file, path) != 0) {
        return; /* it claims a version that is not known yet */
    }
    counting = file.disk;
    counting.read = counted_read;
    counting.next = file.disk.next ? counted_next : NULL;
    reads_most = READS_A_SECTOR * sectors + READS_MORE;
    for (unsigned how = 0; how < 3; how++) {
        reads = 0;
        if (setjmp(too_many) != 0) {
            fail_msg("ROUNDS=1 SEED=%llu: more than %llu reads of %llu sectors, way %u",
                     (unsigned long long)(base + round_now), (unsigned long long)reads_most,
                     (unsigned long long)sectors, how);
        }
        extract_by(how);
        worst = reads > worst ? reads : worst;
    }
    extract_disk_close(&file);
}

static void test_bounded(void **state)
{
    const char *text = getenv("ROUNDS");
    uint64_t rounds = text ? strtoull(text, NULL, 0) : 300;
    int fd[IMAGES];

    (void)state;
    for (unsigned i = 0; i < IMAGES; i++) {
        fd[i] = memfd_create("disk", 0);
        assert_int_equal(write(fd[i], images[i].bytes, SECTORS * BLOCKLOG_SECTOR),
                         SECTORS * BLOCKLOG_SECTOR);
    }
    for (round_now = 0; round_now < rounds; round_now++) {
        char path[64];

        dice.random = (base + round_now) * 0x9e3779b97f4a7c15u + 1;
        for (int k = 0; k < 8; k++) {
            below(2);
        }
        unsigned i = below(IMAGES), n = change_some(fd[i], i);
        uint64_t cut = below(4) ? SECTORS : below(SECTORS) + 1;

        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd[i]);
        assert_int_equal(ftruncate(fd[i], (off_t)(cut * BLOCKLOG_SECTOR)), 0);
        look(path, cut);
        if (cut < SECTORS) {
            assert_int_equal(pwrite(fd[i], images[i].bytes, SECTORS * BLOCKLOG_SECTOR, 0),
                             SECTORS * BLOCKLOG_SECTOR);
        }
        for (unsigned k = 0; k < n; k++) {
            put(fd[i], changed[k], images[i].bytes + (size_t)changed[k] * BLOCKLOG_SECTOR);
        }
    }
    printf("%llu rounds, at most %llu reads of %u sectors\n", (unsigned long long)rounds,
           (unsigned long long)worst, (unsigned)SECTORS);
    for (unsigned i = 0; i < IMAGES; i++) {
        close(fd[i]);
        free(images[i].bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(test_bounded, make_images)};
    const char *text = getenv("SEED");

    base = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);
    printf("SEED=%llu\n", (unsigned long long)base);
    fflush(stdout);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
