/* SPDX-License-Identifier: BSD-2-Clause */
/* kernel/base/table/grown.c, with kernel/base/pool.c: where entries lie, what happens when there is
 * no memory for one, and which are used again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kernel/base/pool.h"
#include "kernel/base/table.h"

struct entry {
    uint64_t words[5];
};

/* RAM from which pieces come one after the other, unless something else has taken what follows. */
static _Alignas(uint64_t) char ram[8 * CONFIG_TABLE_PIECE];
static size_t used, most;

static void *extend(void *at, size_t bytes)
{
    assert_int_equal(bytes % CONFIG_TABLE_PIECE, 0);
    if (used + bytes > most || (at && at != ram + used)) {
        return NULL;
    }
    used += bytes;
    return ram + used - bytes;
}

static void begin(size_t bytes)
{
    used = 0;
    most = bytes;
    memset(ram, 0, sizeof(ram));
    table_init(sizeof(ram), NULL, extend);
}

static void entries_follow_each_other(void **state)
{
    (void)state;
    begin(sizeof(ram));
    char *first = table_new_entry(40), *second = table_new_entry(1),
         *third = table_new_entry(CONFIG_TABLE_PIECE);
    assert_ptr_equal(second, first + 40);
    assert_ptr_equal(third, second + sizeof(uint64_t)); /* across two pieces */
    assert_int_equal(used, 2 * CONFIG_TABLE_PIECE);
    used += CONFIG_TABLE_PIECE; /* somebody else's */
    char *fourth = table_new_entry(CONFIG_TABLE_PIECE);
    assert_ptr_equal(fourth, ram + 3 * CONFIG_TABLE_PIECE);
    assert_ptr_equal(table_new_entry(8), fourth + CONFIG_TABLE_PIECE);
}

static void a_table_is_as_full_as_its_memory(void **state)
{
    static TABLE_OF(struct entry, table, CONFIG_TIMERS);
    unsigned n = 0;

    (void)state;
    begin(2 * CONFIG_TABLE_PIECE);
    while (TABLE_ADD(table, struct entry, n)) {
        assert_true(TABLE_HAS(table, n));
        assert_int_equal(TABLE_INDEX(table, TABLE_AT(table, n)), n);
        n++;
    }
    assert_int_equal(n, 2 * CONFIG_TABLE_PIECE / sizeof(struct entry));
    assert_false(TABLE_HAS(table, n));
    most += CONFIG_TABLE_PIECE;
    assert_non_null(TABLE_ADD(table, struct entry, n));
}

static void a_pool_asks_again(void **state)
{
    TABLE_OF(struct entry, objects, 4);
    struct pool pool;
    void *got[4];

    (void)state;
    begin(0);
    pool_init(&pool, TABLE_POOL(objects), sizeof(struct entry), 4);
    assert_null(pool_alloc(&pool));
    most = CONFIG_TABLE_PIECE;
    for (unsigned i = 0; i < 4; i++) {
        got[i] = pool_alloc(&pool);
        assert_non_null(got[i]);
    }
    assert_null(pool_alloc(&pool)); /* all that there are, memory or not */
    assert_int_equal(pool.used, 4);
    most = 0;
    pool_free(&pool, got[2]);
    assert_ptr_equal(pool_alloc(&pool), got[2]);
}

/* What pool_ready() has found is there, whatever takes the memory. */
static void a_pool_is_ready(void **state)
{
    TABLE_OF(struct entry, objects, 2);
    struct pool pool;

    (void)state;
    begin(0);
    pool_init(&pool, TABLE_POOL(objects), sizeof(struct entry), 2);
    assert_false(pool_ready(&pool));
    most = CONFIG_TABLE_PIECE;
    assert_true(pool_ready(&pool));
    assert_int_equal(pool.used, 0);
    while (table_new_entry(sizeof(struct entry))) { /* somebody else's */
    }
    assert_true(pool_ready(&pool));
    void *object = pool_alloc(&pool);
    assert_non_null(object);
    assert_false(pool_ready(&pool));
    pool_free(&pool, object);
    assert_true(pool_ready(&pool));
    most += CONFIG_TABLE_PIECE;
    assert_non_null(pool_alloc(&pool));
    assert_non_null(pool_alloc(&pool));
    assert_false(pool_ready(&pool)); /* all are in use */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_follow_each_other),
        cmocka_unit_test(a_table_is_as_full_as_its_memory),
        cmocka_unit_test(a_pool_asks_again),
        cmocka_unit_test(a_pool_is_ready),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
