/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Times of the command line: what is one, and which cycle it is, exactly.
 */
#include "host/when.h"
#include "test/host/support.h"

#define MHZ 1000000u

static uint64_t cycles(const char *text, uint64_t start, uint64_t hz)
{
    struct kymo_when when = {0};

    if (kymo_parse_when(text, &when) != 0) {
        print_message("%s\n", text);
        fail();
    }
    assert_true(when.given);
    return kymo_when_cycles(&when, start, hz);
}

static void test_times(void **state)
{
    (void)state;
    assert_int_equal(cycles("0", 7, MHZ), 7);
    assert_int_equal(cycles("1.2034", 0, MHZ), 1203400);
    assert_int_equal(cycles("1.2034s", 0, MHZ), 1203400);
    assert_int_equal(cycles("1203.4ms", 5, MHZ), 1203405);
    assert_int_equal(cycles("+1203400us", 5, MHZ), 1203405);
    assert_int_equal(cycles("1203400000ns", 0, MHZ), 1203400);
    assert_int_equal(cycles(".5", 0, MHZ), 500000);
    assert_int_equal(cycles("5.", 0, MHZ), 5 * MHZ);
    assert_int_equal(cycles("0x3a0c6", 99, MHZ), 0x3a0c6); /* whatever the start is */
    assert_int_equal(cycles("0X00000000000003A0C6", 99, MHZ), 0x3a0c6);
    assert_true(cycles("0xffffffffffffffff", 0, MHZ) == UINT64_MAX);
    assert_int_equal(cycles("00000000000000000000000000000001", 0, MHZ), MHZ);
    assert_int_equal(cycles("0.1", 0, 3), 1); /* the first cycle that is not before */
    assert_int_equal(cycles("0.000000001", 0, MHZ), 1);
    assert_int_equal(cycles("0.000000000000000001", 0, MHZ), 1);
    assert_int_equal(cycles("0.000001", 0, MHZ), 1);
    assert_int_equal(cycles("0.0000010000001", 0, MHZ), 2);
    /* More than there are cycles. */
    assert_true(cycles("999999999999999999", 0, UINT64_MAX) == UINT64_MAX);
    assert_true(cycles("1", UINT64_MAX - 5, MHZ) == UINT64_MAX);
    assert_int_equal(cycles("999999999999999999ns", 0, 1), 1000000000);
}

static void test_no_times(void **state)
{
    static const char *const wrong[] = {"",
                                        "s",
                                        ".",
                                        "+",
                                        "-1",
                                        "1.2.3",
                                        "1h",
                                        "1 s",
                                        "1e3",
                                        "0x",
                                        "0xg",
                                        "0x1.5",
                                        "1,5",
                                        "+0x5",
                                        "++1",
                                        "1ks",
                                        "1S",
                                        "nan",
                                        "inf",
                                        "0x10000000000000000",
                                        "1s2",
                                        "ms",
                                        "1\n",
                                        "１",
                                        "1.0xf",
                                        "1000000000000000000",
                                        "0.0000000000000000001"};
    struct kymo_when when;

    (void)state;
    for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        if (kymo_parse_when(wrong[i], &when) != -1) {
            print_message("%s\n", wrong[i]);
            fail();
        }
    }
}

/* What --time ns prints of an event, given to --from, has the event, and no earlier one that
 * prints otherwise. */
static void test_there_and_back(void **state)
{
    static const uint64_t rates[] = {1, 1000, 62500000, 1000000000, 999999937, 3000000000u};
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1, .seed = support_seed()});

    (void)state;
    for (unsigned i = 0; i < 200000; i++) {
        uint64_t hz = rates[mk_random(mk) % 6], start = mk_random(mk);
        uint64_t time = start + ((uint64_t)mk_random(mk) << (mk_random(mk) % 20));
        int64_t ns = kymo_when_ns(time, start, hz);
        struct kymo_when when = {.given = true, .value = (uint64_t)ns, .scale = 9};
        uint64_t back = kymo_when_cycles(&when, start, hz);

        assert_true(ns >= 0 && back <= time);
        assert_true(kymo_when_ns(back, start, hz) == ns || hz > 1000000000);
        assert_true(back == start || kymo_when_ns(back - 1, start, hz) < ns);
        /* The other direction rounds down, too: after zero away from it. */
        assert_true(kymo_when_ns(start, time, hz) <= -ns);
        assert_true(kymo_when_ns(start, time, hz) >= -ns - 1);
    }
    mk_free(mk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_no_times),
        cmocka_unit_test(test_there_and_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
