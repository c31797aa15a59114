/* SPDX-License-Identifier: BSD-2-Clause */
/* host/collect: names of devices, and sizes. */
#include <string.h>

#include "host/collect/collect.h"
#include "test/host/support.h"

static void test_names(void **state)
{
    static const struct {
        const char *word, *name, *target; /* name NULL: refused */
    } words[] = {
        {"a=unix:/tmp/x", "a", "unix:/tmp/x"},
        {"unix:/tmp/line3", "line3", "unix:/tmp/line3"},
        {"/dev/ttyUSB0@9600", "ttyUSB0-9600", "/dev/ttyUSB0@9600"},
        {"tcp:board:4000", "board-4000", "tcp:board:4000"},
        {"x=tcp:a=b:1", "x", "tcp:a=b:1"},
        {"a/b=unix:/x", NULL, NULL},
        {"..=unix:/x", NULL, NULL},
        {".=unix:/x", NULL, NULL},
        {"=unix:/x", NULL, NULL},
        {"a=", NULL, NULL},
        {"", NULL, NULL},
        {"unix:/", NULL, NULL},
        {"unix:/..", NULL, NULL},
        {"a\nb=unix:/x", NULL, NULL},
        {"collect.jsonl=unix:/x", NULL, NULL},
        {"Collect.JSONL=unix:/x", NULL, NULL},
        {"unix:/tmp/collect.jsonl", NULL, NULL},
    };
    char name[COLLECT_NAME], longest[COLLECT_NAME + 3] = "";
    const char *target;

    (void)state;
    for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        bool good = index_name(words[i].word, name, &target);

        assert_int_equal(good, words[i].name != NULL);
        if (good) {
            assert_string_equal(name, words[i].name);
            assert_string_equal(target, words[i].target);
        }
    }
    memset(longest, 'a', COLLECT_NAME - 1);
    strcat(longest, "=x");
    assert_true(index_name(longest, name, &target));
    memset(longest, 'a', COLLECT_NAME);
    strcpy(longest + COLLECT_NAME, "=x");
    assert_false(index_name(longest, name, &target));
}

static void test_sizes(void **state)
{
    static const char *const bad[] = {"",     "0",   "x",         "-1",
                                      "1Q",   "1MB", " 1",        "1 M",
                                      "0x10", "1e6", "16777216T", "99999999999999999999"};
    uint64_t bytes;

    (void)state;
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(disk_size(bad[i], &bytes));
    }
    assert_true(disk_size("1", &bytes) && bytes == 1);
    assert_true(disk_size("3k", &bytes) && bytes == 3072);
    assert_true(disk_size("3K", &bytes) && bytes == 3072);
    assert_true(disk_size("64M", &bytes) && bytes == 64u << 20);
    assert_true(disk_size("2G", &bytes) && bytes == 2ull << 30);
    assert_true(disk_size("16777215T", &bytes) && bytes == 16777215ull << 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_sizes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
