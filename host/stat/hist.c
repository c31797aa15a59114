/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A histogram of durations: exact below 64, then 64 steps an octave.
 */
#include <stdlib.h>

#include "host/stat/stat.h"

#define STEP_BITS 6
#define STEPS (1u << STEP_BITS)
#define OCTAVES (sizeof(((struct hist *)0)->octaves) / sizeof(uint32_t *))

static unsigned bin_of(uint64_t value)
{
    unsigned shift;

    if (value < STEPS) {
        return (unsigned)value;
    }
    shift = 63 - (unsigned)__builtin_clzll(value) - STEP_BITS;
    return (shift + 1) * STEPS + (unsigned)(value >> shift) - STEPS;
}

/* The middle of a bin. */
static uint64_t bin_value(unsigned bin)
{
    unsigned shift = bin / STEPS;

    if (shift <= 1) {
        return bin;
    }
    shift--;
    return ((uint64_t)(STEPS + bin % STEPS) << shift) + ((uint64_t)1 << shift) / 2;
}

void hist_add(struct hist *hist, uint64_t value, uint64_t at)
{
    unsigned bin = bin_of(value), octave = bin / STEPS;

    octave = octave < OCTAVES ? octave : OCTAVES - 1;
    bin = bin < OCTAVES * STEPS ? bin % STEPS : STEPS - 1;
    if (hist->octaves[octave] == NULL) {
        hist->octaves[octave] = calloc(STEPS, sizeof(uint32_t));
        if (hist->octaves[octave] == NULL) {
            kymo_error("out of memory");
            exit(KYMO_FAILURE);
        }
    }
    hist->octaves[octave][bin]++;
    hist->min = hist->count == 0 || value < hist->min ? value : hist->min;
    if (hist->count == 0 || value > hist->max) {
        hist->max = value;
        hist->max_at = at;
    }
    hist->sum += value;
    hist->count++;
}

uint64_t hist_percentile(const struct hist *hist, unsigned percent)
{
    uint64_t want = (hist->count * percent + 99) / 100;
    uint64_t seen = 0;

    if (want >= hist->count) {
        return hist->max;
    }
    for (unsigned bin = 0; bin < OCTAVES * STEPS; bin++) {
        const uint32_t *bins = hist->octaves[bin / STEPS];

        seen += bins == NULL ? 0 : bins[bin % STEPS];
        if (seen >= want && seen > 0) {
            uint64_t value = bin_value(bin);

            value = value < hist->min ? hist->min : value;
            return value > hist->max ? hist->max : value;
        }
    }
    return hist->max;
}

void hist_free(struct hist *hist)
{
    for (unsigned i = 0; i < OCTAVES; i++) {
        free(hist->octaves[i]);
    }
}
