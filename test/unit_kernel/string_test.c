/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's memcpy() and kin (kernel/base/string.c, here under other names) against the
 * host's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "test/random.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};

    random_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
