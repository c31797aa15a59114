/* SPDX-License-Identifier: BSD-2-Clause */
/* kernel/arch/x86_64/clock.h: which rate of the time-stamp counter counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kernel/arch/x86_64/clock.h"

static void leaf_15h(void **state)
{
    (void)state;
    assert_int_equal(x86_clock_stated((const uint32_t[4]){2, 144, 24000000, 0}), 1728000000);
    assert_int_equal(x86_clock_stated((const uint32_t[4]){3, 216, 38400000, 0}), 2764800000);
    /* not rounded before the division, and beyond 32 bits */
    assert_int_equal(x86_clock_stated((const uint32_t[4]){2, 251, 24000000, 0}), 3012000000);
    assert_int_equal(x86_clock_stated((const uint32_t[4]){1, 300, 24000000, 0}), 7200000000);
}

static void not_stated(void **state)
{
    (void)state;
    assert_int_equal(x86_clock_stated((const uint32_t[4]){0}), 0);
    assert_int_equal(x86_clock_stated((const uint32_t[4]){2, 144, 0, 0}), 0);
    assert_int_equal(x86_clock_stated((const uint32_t[4]){2, 0, 24000000, 0}), 0);
    assert_int_equal(x86_clock_stated((const uint32_t[4]){0, 144, 24000000, 0}), 0);
    assert_int_equal(x86_clock_choose(1728000000, 0), 1728000000);
}

/* To 1/512 to either side; of another machine, not. */
static void the_measurement_decides(void **state)
{
    const uint64_t stated = 1728000000;

    (void)state;
    assert_int_equal(x86_clock_choose(stated, stated), stated);
    assert_int_equal(x86_clock_choose(stated + stated / 600, stated), stated);
    assert_int_equal(x86_clock_choose(stated - stated / 600, stated), stated);
    assert_int_equal(x86_clock_choose(stated + stated / 400, stated), stated + stated / 400);
    assert_int_equal(x86_clock_choose(stated - stated / 400, stated), stated - stated / 400);
    assert_int_equal(x86_clock_choose(4000000, stated), 4000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaf_15h),
        cmocka_unit_test(not_stated),
        cmocka_unit_test(the_measurement_decides),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
