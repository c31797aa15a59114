/* SPDX-License-Identifier: BSD-2-Clause */
/* Random numbers that can be had again: SEED=n in the environment; the seed is printed, and at
 * once: what is buffered a crash takes with it. */
#ifndef TEST_TOOL_RANDOM_H
#define TEST_TOOL_RANDOM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t random_state;

static inline void random_start(void)
{
    const char *given = getenv("SEED");

    if (given) {
        random_state = strtoull(given, NULL, 0);
    } else {
        FILE *f = fopen("/dev/urandom", "r");
        uint32_t seed = 0;
        if (f && fread(&seed, sizeof(seed), 1, f) == 1) {
            random_state = seed;
        }
        if (f) {
            fclose(f);
        }
    }
    printf("SEED=%llu\n", (unsigned long long)random_state);
    fflush(stdout);
}

static inline uint32_t random_below(uint32_t n)
{
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)((random_state >> 32) * n >> 32);
}

#endif
