/* SPDX-License-Identifier: BSD-2-Clause */
/* kernel/base/table/ram.c: the numbers of entries for any RAM, and what is allocated. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kernel/base/table.h"

static size_t allocated;

static void *allocate(size_t bytes)
{
    allocated = bytes;
    return calloc(1, bytes);
}

static void entries_grow_with_ram(void **state)
{
    static const size_t sizes[] = {0, 1u << 20, 16u << 20, 100u << 20, CONFIG_TABLES_RAM / 2};
    unsigned last = 0;

    (void)state;
    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        table_init(sizes[i], allocate, NULL);
        assert_in_range(TABLE_ENTRIES(THREADS), CONFIG_THREADS / 16, CONFIG_THREADS / 2);
        assert_in_range(TABLE_ENTRIES(PROCESSES), CONFIG_PROCESSES / 16, CONFIG_PROCESSES / 2);
        assert_true(TABLE_ENTRIES(THREADS) >= last);
        last = TABLE_ENTRIES(THREADS);
    }
    assert_int_equal(last, CONFIG_THREADS / 2);
    table_init(CONFIG_TABLES_RAM, allocate, NULL);
    assert_int_equal(TABLE_ENTRIES(PROCESSES), CONFIG_PROCESSES);
    table_init(SIZE_MAX, allocate, NULL);
    assert_int_equal(TABLE_ENTRIES(PROCESSES), CONFIG_PROCESSES);
    assert_int_equal(TABLE_ENTRIES(THREADS), CONFIG_THREADS);
    assert_int_equal(TABLE_ENTRIES(CHANNELS), CONFIG_CHANNELS);
    assert_int_equal(TABLE_ENTRIES(CONNECTIONS), CONFIG_CONNECTIONS);
    assert_int_equal(TABLE_ENTRIES(TIMERS), CONFIG_TIMERS);
    assert_int_equal(TABLE_ENTRIES(PULSES), CONFIG_PULSES);
    assert_int_equal(TABLE_ENTRIES(NAMES), CONFIG_NAMES);
}

struct entry {
    uint64_t words[5];
};

static void a_table_has_its_entries(void **state)
{
    TABLE_OF(struct entry, table, CONFIG_TIMERS);

    (void)state;
    table_init(CONFIG_TABLES_RAM / 4, allocate, NULL);
    TABLE_MAKE(table, struct entry, TABLE_ENTRIES(TIMERS));
    assert_non_null(table);
    assert_int_equal(allocated, CONFIG_TIMERS / 4 * sizeof(struct entry));
    memset(&table[TABLE_ENTRIES(TIMERS) - 1], 1, sizeof(table[0]));
    free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_grow_with_ram),
        cmocka_unit_test(a_table_has_its_entries),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
