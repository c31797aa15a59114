/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See nearest.h. Tested by test/host/check and test/dtrace/rows/suggestions.rows.
 */
#include "host/nearest.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { NEAREST_LETTERS = 64 };

static unsigned nearest_smaller(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Letters that are missing, too many, different (of another case: not at all), or exchanged with
 * their neighbour. */
unsigned nearest_slips(const char *a, const char *b)
{
    unsigned rows[3][NEAREST_LETTERS + 1];
    size_t na = strlen(a), nb = strlen(b);

    if (na > NEAREST_LETTERS || nb > NEAREST_LETTERS) {
        return UINT32_MAX;
    }
    for (unsigned j = 0; j <= nb; j++) {
        rows[0][j] = j;
    }
    for (unsigned i = 1; i <= na; i++) {
        unsigned *now = rows[i % 3], *last = rows[(i - 1) % 3], *before = rows[(i + 1) % 3];
        now[0] = i;
        for (unsigned j = 1; j <= nb; j++) {
            int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
            now[j] =
                nearest_smaller(nearest_smaller(last[j], now[j - 1]) + 1, last[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
                y == tolower((unsigned char)a[i - 2])) {
                now[j] = nearest_smaller(now[j], before[j - 2] + 1);
            }
        }
    }
    return rows[na % 3][nb];
}

unsigned nearest_most(size_t length)
{
    return length < 3 ? 0 : length < 5 ? 1 : length < 9 ? 2 : 3;
}

void nearest_offer(struct nearest *nearest, const char *name)
{
    unsigned slips = nearest_slips(nearest->word, name);

    if (slips <= nearest_most(strlen(nearest->word)) &&
        (nearest->name == NULL || slips < nearest->slips)) {
        nearest->name = name;
        nearest->slips = slips;
    }
}

void nearest_offer_options(struct nearest *nearest, const struct option *options)
{
    struct nearest found = {.dashes = "--"};
    char word[NEAREST_LETTERS + 1];

    snprintf(word, sizeof(word), "%s", nearest->word + strspn(nearest->word, "-"));
    word[strcspn(word, "=")] = '\0';
    found.word = word;
    for (; strncmp(nearest->word, "--", 2) == 0 && options->name != NULL; options++) {
        nearest_offer(&found, options->name);
    }
    found.word = nearest->word;
    *nearest = found;
}

const char *nearest_hint(struct nearest *nearest)
{
    if (nearest->name == NULL) {
        return "";
    }
    snprintf(nearest->hint, sizeof(nearest->hint), "; did you mean %s%s?",
             nearest->dashes ? nearest->dashes : "", nearest->name);
    return nearest->hint;
}
