/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's memcpy() and kin (kernel/base/string.c, here under other names) against the
 * host's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "test/tool/random.h"

void *kymo_memcpy(void *dst, const void *src, size_t len);
void *kymo_memmove(void *dst, const void *src, size_t len);
void *kymo_memset(void *dst, int value, size_t len);
int kymo_memcmp(const void *a, const void *b, size_t len);

#define SIZE 300

static void test_all(void **state)
{
    uint8_t a[SIZE], b[SIZE], src[SIZE];

    (void)state;
    for (unsigned n = 0; n < 50000; n++) {
        size_t to = random_below(SIZE), from = random_below(SIZE);
        size_t len = random_below((uint32_t)(SIZE - (to > from ? to : from)) + 1);
        for (unsigned i = 0; i < SIZE; i++) {
            a[i] = b[i] = (uint8_t)random_below(4);
            src[i] = (uint8_t)random_below(256);
        }
        switch (n % 3) {
        case 0:
            memcpy(a + to, src + from, len);
            kymo_memcpy(b + to, src + from, len);
            break;
        case 1:
            memmove(a + to, a + from, len);
            kymo_memmove(b + to, b + from, len);
            break;
        default:
            memset(a + to, src[0], len);
            kymo_memset(b + to, src[0], len);
        }
        assert_memory_equal(a, b, SIZE);
        int want = memcmp(a + to, a + from, len), got = kymo_memcmp(a + to, a + from, len);
        assert_int_equal((want > 0) - (want < 0), (got > 0) - (got < 0));
    }
}

#define WORD sizeof(uintptr_t)
#define LEN_MOST 200

static uint8_t got[4 * SIZE] __attribute__((aligned(8))), want[4 * SIZE],
    from[4 * SIZE] __attribute__((aligned(8)));

static void fill(void)
{
    for (unsigned i = 0; i < sizeof(got); i++) {
        got[i] = want[i] = (uint8_t)random_below(256);
        from[i] = (uint8_t)random_below(256);
    }
}

/* Each pair of alignments with each length. */
static void test_alignments(void **state)
{
    (void)state;
    for (size_t to = 0; to < 2 * WORD; to++) {
        for (size_t at = 0; at < 2 * WORD; at++) {
            for (size_t len = 0; len <= LEN_MOST; len++) {
                fill();
                memcpy(want + to, from + at, len);
                assert_ptr_equal(kymo_memcpy(got + to, from + at, len), got + to);
                assert_memory_equal(got, want, sizeof(got));
                memset(want + to, (int)len, len);
                assert_ptr_equal(kymo_memset(got + to, (int)len, len), got + to);
                assert_memory_equal(got, want, sizeof(got));
            }
        }
    }
}

/* Each distance at which two ranges overlap, to either side, from each alignment. */
static void test_overlaps(void **state)
{
    (void)state;
    for (size_t at = 0; at < WORD; at++) {
        for (size_t len = 0; len <= LEN_MOST; len += 1 + random_below(3)) {
            for (size_t to = at; to <= at + 2 * len; to++) {
                size_t src = at + len;
                fill();
                memmove(want + to, want + src, len);
                assert_ptr_equal(kymo_memmove(got + to, got + src, len), got + to);
                assert_memory_equal(got, want, sizeof(got));
            }
        }
    }
}

/* Equal but for one byte, which is at each place, of each alignment. */
static void test_compare(void **state)
{
    (void)state;
    for (size_t a = 0; a < WORD; a++) {
        for (size_t len = 0; len <= LEN_MOST; len += 1 + random_below(4)) {
            size_t b = random_below(WORD);

            fill();
            memcpy(got + a, from + b, len);
            assert_int_equal(kymo_memcmp(got + a, from + b, len), 0);
            for (size_t i = 0; i < len; i++) {
                uint8_t was = got[a + i];

                got[a + i] = (uint8_t)(was + 1 + random_below(255));
                int sign = got[a + i] < was ? -1 : 1;
                assert_int_equal(kymo_memcmp(got + a, from + b, len), sign);
                assert_int_equal(kymo_memcmp(got + a, from + b, i), 0);
                got[a + i] = was;
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_alignments),
        cmocka_unit_test(test_overlaps),
        cmocka_unit_test(test_compare),
    };

    random_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
