/* SPDX-License-Identifier: BSD-2-Clause */
/* What the header of a capture says of its filters, for the options that set them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tracelogger/filters.h"

/* All rows of these options, parted by "; ". */
static const char *rows_of(const struct options *options)
{
    static char all[512];
    char key[PANIC_KEY], value[PANIC_VALUE];

    all[0] = '\0';
    filters_set(options);
    for (unsigned n = 0; filters_row(n, key, value); n++) {
        assert_memory_equal(key, "FILTER_", 7);
        assert_int_equal(key[7], '1' + (int)n);
        strcat(all, n == 0 ? "" : "; ");
        strcat(all, value);
    }
    return all;
}

static void test_rows(void **unused)
{
    static const char gate[] = "a-very-long-name-of-a-D-program-in-the-boot-image-that-is-cut.dif";

    (void)unused;
    assert_string_equal(rows_of(&(struct options){0}),
                        "all classes; fast; all processes and threads");
    assert_string_equal(rows_of(&(struct options){.wide = true, .without = 1u << 1 | 1u << 4}),
                        "all classes without KERCALL THREAD; wide; all processes and threads");
    assert_string_equal(rows_of(&(struct options){.without = 0x1ff}),
                        "all classes without KERCALL INT PROCESS THREAD COMM SYSTEM; fast; all "
                        "processes and threads");
    assert_string_equal(rows_of(&(struct options){.gate = "slow.dif"}),
                        "all classes; fast; all processes and threads; gate slow.dif");
    assert_string_equal(rows_of(&(struct options){.daemon = true}),
                        "set by applications; form set by applications; applications start and "
                        "stop");
    assert_string_equal(rows_of(&(struct options){.daemon = true, .everything = true}),
                        "all classes; fast; applications start and stop");
    assert_true(strlen(rows_of(&(struct options){.gate = gate})) < 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
