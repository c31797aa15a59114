/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lists of the command line: CPUs and classes.
 */
#include <string.h>

#include "host/kymo.h"
#include "test/host/support.h"

static void test_cpus(void **state)
{
    uint64_t mask;

    (void)state;
    assert_int_equal(kymo_parse_cpus("0", &mask), 0);
    assert_int_equal(mask, 1);
    assert_int_equal(kymo_parse_cpus("0,2-3,63", &mask), 0);
    assert_true(mask == (1ull | 12ull | 1ull << 63));
    assert_int_equal(kymo_parse_cpus("0-63", &mask), 0);
    assert_true(mask == UINT64_MAX);
}

static void test_cpus_wrong(void **state)
{
    static const char *const wrong[] = {
        "", "64", "-1", "1-", "3-2", ",", "1,", "a", "1a", "0 1", "99999999999999999999"};
    uint64_t mask;

    (void)state;
    for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(kymo_parse_cpus(wrong[i], &mask), -1);
    }
}

static bool wanted(const char *list, unsigned class, unsigned number)
{
    struct kymo_classes classes = {.any = true};
    struct kev_event event = {.class = (uint8_t) class, .number = (uint16_t)number};
    const char *bad;

    assert_int_equal(kymo_parse_classes(list, &classes, &bad), 0);
    return kymo_class_wanted(&classes, &event);
}

static void test_classes(void **state)
{
    (void)state;
    assert_true(wanted("kercall", TRACE_CLASS_KER_CALL, 11));
    assert_true(wanted("kercall", TRACE_CLASS_KER_CALL, 11 + 256));
    assert_true(wanted("KerCallExit", TRACE_CLASS_KER_CALL, 11 + 128 + 512));
    assert_false(wanted("kercallexit", TRACE_CLASS_KER_CALL, 11));
    assert_true(wanted("kercallint", TRACE_CLASS_KER_CALL, 11 + 256));
    assert_true(wanted("thread", TRACE_CLASS_PR_TH, 24));
    assert_false(wanted("thread", TRACE_CLASS_PR_TH, 320));
    assert_true(wanted("process,int", TRACE_CLASS_PR_TH, 320));
    assert_true(wanted("process,int", TRACE_CLASS_INT, 1));
    assert_false(wanted("process,int", TRACE_CLASS_COMM, 1));
    assert_true(wanted("vthread", TRACE_CLASS_PR_TH, 27));
    assert_true(wanted("user", TRACE_CLASS_USER, 1023));
    assert_true(wanted("system", TRACE_CLASS_SYSTEM, 6));
    assert_true(wanted("control", TRACE_CLASS_CONTROL, 8));
    assert_true(wanted("other", 9, 8));
}

static void test_classes_wrong(void **state)
{
    struct kymo_classes classes = {.any = true};
    const char *bad;

    (void)state;
    assert_int_equal(kymo_parse_classes("int,nonsense", &classes, &bad), -1);
    assert_string_equal(bad, "nonsense");
    assert_int_equal(kymo_parse_classes("", &classes, &bad), -1);
    assert_int_equal(kymo_parse_classes("int,", &classes, &bad), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpus),
        cmocka_unit_test(test_cpus_wrong),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_classes_wrong),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
