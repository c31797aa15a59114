/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random programs on the machine and on a second, naive interpreter: both load the same ones, and
 * what both load gives the same values, the same faults, the same memory. STEPS programs from SEED,
 * both from the environment; each program has a seed of its own, which is printed when it fails:
 * SEED=that STEPS=1 repeats it. Programs that once failed come first.
 */
#include "test/trace/dtrace/random/pair.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 500000 };

static struct {
    unsigned refused, ran, firings, faulted, unknown, wrong;
    unsigned faults[16];
} counts;

static uint64_t number(const char *name, uint64_t absent)
{
    const char *text = getenv(name);

    return text && *text ? strtoull(text, NULL, 0) : absent;
}

static void make(void)
{
    struct program *p = &pair.program;

    p_variables(p);
    p->nobjects = 1 + r_below(r_chance(70) ? 1 : 3);
    for (uint32_t i = 0; i < p->nobjects; i++) {
        p_object(p, i, 1 + r_below(r_chance(90) ? 24 : 80));
    }
    if (r_chance(25)) {
        for (uint32_t i = 1 + r_below(3); i > 0; i--) {
            p_damage(&p->objects[r_below(p->nobjects)]);
        }
    }
}

static void run_all(void)
{
    unsigned firings = 1 + r_below(3);

    counts.ran++;
    while (firings-- && !pair.wrong[0] && !pair.naive.unknown) {
        uint32_t i = 0;
        counts.firings++;
        while (i < pair.program.nobjects && pair_run(i)) {
            i++;
        }
        if (pair.naive.fault != DIF_FAULT_NONE) {
            counts.faulted++;
            counts.faults[pair.naive.fault & 15]++;
        }
        pair_clause();
    }
    counts.unknown += pair.naive.unknown;
}

static bool one(uint64_t seed)
{
    r_seed(seed);
    pair_world();
    make();
    if (getenv("SHOW")) {
        printf("strsize %u, scratch %zu\n", pair.strsize, pair.scratch_size);
        p_show(&pair.program);
    }
    if (pair_load()) {
        run_all();
        pair_unload();
    } else {
        counts.refused++;
    }
    if (pair.wrong[0]) {
        printf("FAILED: SEED=%#" PRIx64 " STEPS=1: %s\n", seed, pair.wrong);
        counts.wrong++;
    }
    return counts.wrong < 5;
}

/* 1: unknown bytes copied onto themselves, which the naive one took to be known from then on. */
static const uint64_t once_failed[] = {0x21f4f386e1cb416c};

int main(void)
{
    uint64_t seed = number("SEED", 1), steps = number("STEPS", STEPS);

    pair_init();
    for (unsigned i = 0; steps > 1 && i < sizeof(once_failed) / sizeof(once_failed[0]); i++) {
        one(once_failed[i]);
    }
    for (uint64_t i = 0; i < steps && one(seed + i * (steps > 1 ? 0x632be59bd9b4e019u : 0)); i++) {
    }
    printf("SEED=%" PRIu64
           ": %u ran, %u refused; %u of %u firings faulted, %u looked at what isn't known\n",
           seed, counts.ran, counts.refused, counts.faulted, counts.firings, counts.unknown);
    printf("dearest step: %.1f blocks and bytes (%" PRIu64 " for %" PRIu64 " steps)\n",
           pair.dearest, pair.most_work, pair.most_steps);
    for (unsigned i = 0; i < 10; i++) {
        printf("fault %u: %u\n", i, counts.faults[i]);
    }
    /* If chance no longer makes what it should, it proves nothing. */
    bool dull = steps >= 10000 && (counts.ran < steps / 2 || counts.refused < steps / 100 ||
                                   counts.unknown > steps / 20);
    printf("%u passed, %u failed\n", counts.ran - counts.wrong, counts.wrong + dull);
    return counts.wrong || dull;
}
