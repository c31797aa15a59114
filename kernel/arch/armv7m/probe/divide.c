/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The quotient of 64-bit numbers, which in the kernel only D needs: replaces the function of the
 * compiler's library, which is twice as long. The CPU divides 32-bit numbers; a longer quotient is
 * made of digits of 16 bits, whose estimate by the divisor's upper digit is too large by at most 2
 * (Knuth, The Art of Computer Programming, volume 2, 4.3.1, algorithm D). Any context. Tested by
 * test/kernel/arch/armv7m/divide_test.c.
 */
#include <stdint.h>

uint64_t __udivmoddi4(uint64_t n, uint64_t d, uint64_t *rest);

/* Returns the next digit of a quotient: *rest followed by 16 bits, divided by d, whose highest bit
 * is set and which is more than *rest. */
static uint32_t divide_digit(uint32_t *rest, uint32_t next, uint32_t d)
{
    uint32_t upper = d >> 16, lower = d & 0xffff;
    uint32_t q = *rest / upper, left = *rest - q * upper;

    while (q * lower > (left << 16 | next)) { /* q is at most 1 << 16 | 1: no product overflows */
        q--;
        left += upper;
        if (left >> 16) {
            break;
        }
    }
    *rest = (*rest << 16 | next) - q * d;
    return q;
}

/* Likewise divides *rest, followed by 32 bits. */
static __attribute__((noinline)) uint32_t divide_long(uint32_t *rest, uint32_t next, uint32_t d)
{
    uint32_t q = divide_digit(rest, next >> 16, d);

    return q << 16 | divide_digit(rest, next & 0xffff, d);
}

/* Implements the compiler's divisions. d isn't 0. */
uint64_t __udivmoddi4(uint64_t n, uint64_t d, uint64_t *rest)
{
    uint32_t high = (uint32_t)(n >> 32), low = (uint32_t)n, divisor = (uint32_t)d, r, q;

    if (d >> 32) { /* a quotient of one word, too large by at most 1 before it is reduced */
        unsigned shift = (unsigned)__builtin_clz((uint32_t)(d >> 32));
        r = (uint32_t)(n >> 33);
        q = divide_long(&r, (uint32_t)(n >> 1), (uint32_t)((d << shift) >> 32)) >> (31 - shift);
        q -= q > 0;
        n -= q * d;
        q += n >= d;
        *rest = n >= d ? n - d : n;
        return q;
    }
    if (high == 0) {
        q = low / divisor;
        *rest = low - q * divisor;
        return q;
    }
    unsigned shift = (unsigned)__builtin_clz(divisor);
    uint32_t above = high / divisor;
    n = (n - ((uint64_t)(above * divisor) << 32)) << shift;
    r = (uint32_t)(n >> 32);
    q = divide_long(&r, (uint32_t)n, divisor << shift);
    *rest = r >> shift;
    return (uint64_t)above << 32 | q;
}
