/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls that the compiler makes for atomics under -fsanitize=thread, each with a yield before
 * it now and then (the linker's --wrap): so that other CPUs come between any two of them, also
 * where there are fewer processors than CPUs.
 */
#include <stdint.h>

static void yield_sometimes(void)
{
    static _Thread_local uint32_t random = 1;

    random = random * 1664525u + 1013904223u;
    if (random >> 29 == 0) {
        sched_yield();
    }
}

#define WRAP(result, name, types, ...) \
    result __real___tsan_atomic##name types; \
    result __wrap___tsan_atomic##name types; \
    result __wrap___tsan_atomic##name types \
    { \
        yield_sometimes(); \
        return __real___tsan_atomic##name(__VA_ARGS__); \
    }
#define WRAP_WORD(type, bits) \
    WRAP(type, bits##_load, (const volatile void *at, int order), at, order) \
    WRAP(void, bits##_store, (volatile void *at, type value, int order), at, value, order)
WRAP_WORD(uint32_t, 32)
WRAP_WORD(uint64_t, 64)
WRAP(_Bool, 32_compare_exchange_strong,
     (volatile void *at, void *expected, uint32_t desired, int good, int bad), at, expected,
     desired, good, bad)
