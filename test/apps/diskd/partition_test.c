/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * apps/diskd/partition.c: whatever a disk's first sector has, what is found lies on the disk and is
 * Kymo's, or there is no table at all. Built with ASan and UBSan.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "apps/diskd/partition.h"

#define TABLE 446
#define ROUNDS 200000
#define DISK 1000u

static uint8_t sector[512];

static void entry_put(unsigned i, uint8_t type, uint32_t first, uint32_t sectors)
{
    uint8_t *entry = sector + TABLE + 16 * i;

    entry[4] = type;
    for (unsigned b = 0; b < 4; b++) {
        entry[8 + b] = (uint8_t)(first >> 8 * b);
        entry[12 + b] = (uint8_t)(sectors >> 8 * b);
    }
}

static void table_begin(void)
{
    memset(sector, 0, sizeof(sector));
    sector[510] = 0x55;
    sector[511] = 0xaa;
}

static void a_disk_without_a_table_is_taken_whole(void **state)
{
    struct partition found;

    (void)state;
    table_begin();
    entry_put(0, 0x0c, 1, 10);
    sector[511] = 0;
    assert_int_equal(partition_find(sector, DISK, &found), 0);
    assert_true(found.first == 0 && found.sectors == DISK);
}

static void others_partitions_are_refused(void **state)
{
    struct partition found;

    (void)state;
    table_begin();
    assert_int_equal(partition_find(sector, DISK, &found), ENOENT); /* an empty table */
    entry_put(0, 0x0c, 1, 10);
    entry_put(1, 0x83, 11, DISK - 11);
    assert_int_equal(partition_find(sector, DISK, &found), ENOENT);
}

/* By an account of its own, of random tables with bounds near the disk's and near 2^32. */
static void what_is_found_lies_on_the_disk(void **state)
{
    static const uint8_t types[] = {0, 0x0c, 0x83, PARTITION_TRACE};
    static const uint32_t bounds[] = {0,    1,        2,           500,       DISK - 1,
                                      DISK, DISK + 1, 0x80000000u, UINT32_MAX};
    const unsigned n = sizeof(bounds) / sizeof(bounds[0]);
    unsigned hits = 0;

    (void)state;
    srandom(1);
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct partition found, want = {0, 0};

        table_begin();
        for (unsigned i = 4; i-- > 0;) {
            uint8_t type = types[(unsigned)random() % 4];
            uint32_t first = bounds[(unsigned)random() % n];
            uint32_t sectors = bounds[(unsigned)random() % n];

            entry_put(i, type, first, sectors);
            if (type == PARTITION_TRACE) {
                want = (struct partition){first, sectors};
            }
        }
        int inside = want.first > 0 && want.sectors > 0 && want.first < DISK &&
                     want.sectors <= DISK - want.first;
        int error = partition_find(sector, DISK, &found);
        assert_int_equal(error, inside ? 0 : ENOENT);
        if (inside) {
            assert_true(found.first == want.first && found.sectors == want.sectors);
            hits++;
        }
    }
    assert_true(hits > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_disk_without_a_table_is_taken_whole),
        cmocka_unit_test(others_partitions_are_refused),
        cmocka_unit_test(what_is_found_lies_on_the_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
