/* SPDX-License-Identifier: BSD-2-Clause */
/* Puts an unwind table together: see pack.h. */
#include <stdlib.h>

#include "abi/unwind.h"
#include "host/unwind/pack.h"

/* Returns the rows with others between those that are too far from each other within a block; with
 * to == NULL only their number. */
static size_t rows_fill(struct unwind_row *to, const struct unwind_row *rows, size_t nrows)
{
    size_t n = 0;
    struct unwind_row before = {0, 0};

    for (size_t i = 0; i < nrows; i++) {
        for (; n % UNWIND_BLOCK && rows[i].at - before.at > UNWIND_FAR; n++) {
            before.at += UNWIND_FAR;
            if (to) {
                to[n] = before;
            }
        }
        before = rows[i];
        if (to) {
            to[n] = before;
        }
        n++;
    }
    return n;
}

uint32_t *unwind_pack(const struct unwind_rule *rules, size_t nrules, const struct unwind_row *rows,
                      size_t nrows, uint32_t text_bytes, size_t *nwords)
{
    size_t n = rows_fill(NULL, rows, nrows), blocks = (n + UNWIND_BLOCK - 1) / UNWIND_BLOCK;
    struct unwind_row *filled = calloc(n + 1, sizeof(*filled));

    *nwords = UNWIND_HEADER_WORDS + 2 * nrules + blocks + (n + 1) / 2;
    uint32_t *words = calloc(*nwords, sizeof(*words)), *w = words;
    if (!filled || !words) {
        free(filled);
        free(words);
        return NULL;
    }
    rows_fill(filled, rows, nrows);
    *w++ = UNWIND_MAGIC;
    *w++ = text_bytes;
    *w++ = (uint32_t)nrules;
    *w++ = (uint32_t)n;
    for (size_t i = 0; i < nrules; i++) {
        *w++ = rules[i].cfa;
        *w++ = rules[i].places;
    }
    for (size_t i = 0; i < n; i += UNWIND_BLOCK) {
        *w++ = filled[i].at;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t distance = i % UNWIND_BLOCK ? filled[i].at - filled[i - 1].at : 0;
        w[i / 2] |= (distance | filled[i].rule << UNWIND_RULE_SHIFT) << 16 * (i % 2);
    }
    free(filled);
    return words;
}
