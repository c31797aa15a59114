/* SPDX-License-Identifier: BSD-2-Clause */
/* Puts an unwind table together: see pack.h. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "abi/unwind.h"
#include "host/unwind/pack.h"

enum {
    DISTANCES = UNWIND_FAR + 1,
    USES_LEAST = 3, /* a pair takes two bytes, and saves one each */
    STEPS_MOST = 8  /* of a long distance that is made of several */
};

struct packing {
    const struct unwind_row *rows;
    size_t nrows;
    unsigned uses[DISTANCES][UNWIND_RULES_MOST]; /* of rows with a row before them */
    uint8_t numbers[DISTANCES][UNWIND_RULES_MOST];
    uint8_t pairs[UNWIND_PAIRS_MOST][2];
    uint32_t npairs;
};

static uint32_t distance_of(const struct packing *p, size_t i)
{
    return p->rows[i].at - p->rows[i - 1].at;
}

/* The most frequent distance and rule that are no pair yet; false: they are not worth one. */
static bool next_pair(struct packing *p)
{
    unsigned most = USES_LEAST - 1, distance = 0, rule = 0;

    for (unsigned d = 0; d < DISTANCES; d++) {
        for (unsigned r = 0; r < UNWIND_RULES_MOST; r++) {
            if (p->uses[d][r] > most) {
                most = p->uses[d][r];
                distance = d;
                rule = r;
            }
        }
    }
    if (most < USES_LEAST || p->npairs == UNWIND_PAIRS_MOST) {
        return false;
    }
    p->uses[distance][rule] = 0;
    p->pairs[p->npairs][0] = (uint8_t)distance;
    p->pairs[p->npairs][1] = (uint8_t)rule;
    p->numbers[distance][rule] = (uint8_t)++p->npairs;
    return true;
}

static void pairs_choose(struct packing *p)
{
    for (size_t i = 1; i < p->nrows; i++) {
        if (distance_of(p, i) <= UNWIND_FAR) {
            p->uses[distance_of(p, i)][p->rows[i].rule]++;
        }
    }
    while (next_pair(p)) {
    }
}

/* Writes an entry; returns its bytes. */
static size_t entry_put(const struct packing *p, size_t i, uint8_t *to)
{
    uint32_t distance = distance_of(p, i), rule = p->rows[i].rule;
    bool plain = rule < UNWIND_LONG_RULE;
    size_t n = 0;

    if (p->numbers[distance][rule]) {
        to[n++] = p->numbers[distance][rule];
        return n;
    }
    to[n++] = (uint8_t)(UNWIND_LONG | (plain ? rule : UNWIND_LONG_RULE));
    if (!plain) {
        to[n++] = (uint8_t)rule;
    }
    to[n++] = (uint8_t)distance;
    return n;
}

/* Makes the blocks, in zeroed memory; with starts == NULL only counts them. */
static uint32_t unwind_pack_blocks_make(const struct packing *p, uint32_t *starts, uint8_t *blocks)
{
    uint32_t n = 0;
    size_t used = UNWIND_BLOCK;

    for (size_t i = 0; i < p->nrows; i++) {
        uint8_t entry[3];
        size_t bytes =
            i > 0 && distance_of(p, i) <= UNWIND_FAR ? entry_put(p, i, entry) : UNWIND_BLOCK;
        bool first = used + bytes > UNWIND_BLOCK;
        if (first) {
            n++;
            used = 0;
            bytes = 1;
            entry[0] = (uint8_t)p->rows[i].rule;
        }
        if (starts) {
            memcpy(blocks + (n - 1) * UNWIND_BLOCK + used, entry, bytes);
            starts[n - 1] = first ? p->rows[i].at : starts[n - 1];
        }
        used += bytes;
    }
    return n;
}

/* Repeats rows where the next one is too far for an entry, unless it is so far that a block of its
 * own takes less. Returns their number; with to == NULL only counts them. */
static size_t rows_spread(const struct unwind_row *rows, size_t nrows, struct unwind_row *to)
{
    size_t n = 0;

    for (size_t i = 0; i < nrows; i++) {
        uint32_t distance = i + 1 < nrows ? rows[i + 1].at - rows[i].at : 0;
        bool near = distance > 0 && distance <= STEPS_MOST * UNWIND_FAR;
        uint32_t steps = near ? (distance - 1) / UNWIND_FAR : 0;
        for (uint32_t step = 0; step <= steps; step++, n++) {
            if (to) {
                to[n] = (struct unwind_row){rows[i].at + step * UNWIND_FAR, rows[i].rule};
            }
        }
    }
    return n;
}

uint32_t *unwind_pack(const struct unwind_rule *rules, size_t nrules, const struct unwind_row *some,
                      size_t nsome, uint32_t text_bytes, size_t *nwords)
{
    struct packing *p = calloc(1, sizeof(*p));
    struct unwind_row *rows = calloc(rows_spread(some, nsome, NULL) + 1, sizeof(*rows));

    if (!p || !rows) {
        free(rows);
        free(p);
        return NULL;
    }
    p->rows = rows;
    p->nrows = rows_spread(some, nsome, rows);
    pairs_choose(p);
    uint32_t nblocks = unwind_pack_blocks_make(p, NULL, NULL);
    size_t pair_words = (p->npairs + 1) / 2;
    *nwords = UNWIND_HEADER_WORDS + 2 * nrules + nblocks * (1 + UNWIND_BLOCK / 4) + pair_words;
    uint32_t *words = calloc(*nwords, sizeof(*words)), *w = words;
    if (words) {
        *w++ = UNWIND_MAGIC;
        *w++ = text_bytes;
        *w++ = (uint32_t)nrules;
        *w++ = nblocks;
        *w++ = p->npairs;
        for (size_t i = 0; i < nrules; i++) {
            *w++ = rules[i].cfa;
            *w++ = rules[i].places;
        }
        memcpy(w + nblocks, p->pairs, sizeof(p->pairs[0]) * p->npairs);
        unwind_pack_blocks_make(p, w, (uint8_t *)(w + nblocks + pair_words));
    }
    free(rows);
    free(p);
    return words;
}
