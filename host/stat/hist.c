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

/* The least value of a bin. */
static uint64_t bin_least(unsigned bin)
{
    unsigned shift = bin / STEPS;

    return shift <= 1 ? bin : (uint64_t)(STEPS + bin % STEPS) << (shift - 1);
}

/* The quarter octave that a value is in: its least value, and in *to that of the next one. */
static uint64_t quarter_of(uint64_t value, uint64_t *to)
{
    unsigned octave = value < 4 ? 2 : 63 - (unsigned)__builtin_clzll(value);
    uint64_t width = (uint64_t)1 << (octave - 2), from = value & ~(width - 1);

    *to = from > UINT64_MAX - width ? UINT64_MAX : from + width;
    return from;
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
        hist->octaves[octave] = kymo_memory(calloc(STEPS, sizeof(uint32_t)));
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

unsigned hist_steps(const struct hist *hist, struct hist_step steps[HIST_STEPS_MOST])
{
    unsigned n = 0;

    for (unsigned bin = 0; bin < OCTAVES * STEPS; bin++) {
        const uint32_t *bins = hist->octaves[bin / STEPS];
        uint32_t count = bins == NULL ? 0 : bins[bin % STEPS];
        struct hist_step step;

        if (count == 0) {
            continue;
        }
        step.from = quarter_of(bin_least(bin), &step.to);
        step.count = count;
        if (n > 0 && steps[n - 1].from == step.from) {
            steps[n - 1].count += count;
        } else if (n < HIST_STEPS_MOST) {
            steps[n++] = step;
        }
    }
    return n;
}

void hist_free(struct hist *hist)
{
    for (unsigned i = 0; i < OCTAVES; i++) {
        free(hist->octaves[i]);
    }
}
