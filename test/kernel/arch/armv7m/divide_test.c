/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The quotient of 64-bit numbers of Cortex-M kernels (kernel/arch/armv7m/probe/divide.c) against
 * this machine's: numbers around powers of two, whose digits are estimated too large, and random
 * ones of every length.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

uint64_t __udivmoddi4(uint64_t n, uint64_t d, uint64_t *rest);

enum { RANDOM = 3000000 };

static void check(uint64_t n, uint64_t d)
{
    uint64_t rest = ~0ull, q = __udivmoddi4(n, d, &rest);

    if (q != n / d || rest != n % d) {
        fail_msg("%#llx / %#llx: %#llx, rest %#llx", (unsigned long long)n, (unsigned long long)d,
                 (unsigned long long)q, (unsigned long long)rest);
    }
}

/* 2^bit - 2 ... 2^bit + 2, and the same with other digits below. */
static uint64_t near_power(unsigned i)
{
    uint64_t power = i / 10 < 64 ? 1ull << i / 10 : 0;

    return (i % 10 < 5 ? power : power | power >> 16 | power >> 17) + i % 5 - 2;
}

static void powers_divide(void **state)
{
    enum { NUMBERS = 65 * 10 };

    (void)state;
    for (unsigned n = 0; n < NUMBERS; n++) {
        for (unsigned d = 0; d < NUMBERS; d++) {
            if (near_power(d)) {
                check(near_power(n), near_power(d));
            }
        }
    }
}

static void random_numbers_divide(void **state)
{
    uint64_t seed = 0x9e3779b97f4a7c15ull;

    (void)state;
    for (unsigned i = 0; i < RANDOM; i++) {
        uint64_t number[2];
        for (unsigned k = 0; k < 2; k++) {
            seed = seed * 6364136223846793005ull + 1442695040888963407ull;
            number[k] = (seed ^ seed >> 29) * 0xbf58476d1ce4e5b9ull;
        }
        uint64_t n = number[0] >> (number[1] & 63), d = number[1] >> (seed >> 58);
        check(n, d ? d : 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(powers_divide),
                                       cmocka_unit_test(random_numbers_divide)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
