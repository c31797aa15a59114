/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See nearest.h. A slip is a letter that is missing, wrong or too many, or two that are exchanged.
 * Tested by test/host/check.
 */
#include "host/nearest.h"

#include <stdio.h>
#include <string.h>

enum { NEAREST_LETTERS = 40 };

static unsigned nearest_least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Returns the number of slips between two words of n and m letters. */
static unsigned nearest_slips(const char *a, size_t n, const char *b, size_t m)
{
    unsigned row[NEAREST_LETTERS + 1][NEAREST_LETTERS + 1];

    for (size_t i = 0; i <= n; i++) {
        for (size_t j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                row[i][j] = (unsigned)(i + j);
                continue;
            }
            unsigned changed = row[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            row[i][j] = nearest_least(changed, nearest_least(row[i - 1][j], row[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[i][j] = nearest_least(row[i][j], row[i - 2][j - 2] + 1);
            }
        }
    }
    return row[n][m];
}

static void nearest_offer_part(struct nearest *nearest, const char *word, size_t n,
                               const char *name)
{
    size_t m = strlen(name);

    if (n == 0 || n > NEAREST_LETTERS || m > NEAREST_LETTERS) {
        return;
    }
    unsigned most = n < 4 ? 1 : n < 8 ? 2 : 3;
    unsigned slips = nearest_slips(word, n, name, m);
    if (slips <= most && slips < n && (nearest->name == NULL || slips < nearest->slips)) {
        nearest->name = name;
        nearest->slips = slips;
    }
}

void nearest_offer(struct nearest *nearest, const char *name)
{
    nearest_offer_part(nearest, nearest->word, strlen(nearest->word), name);
}

void nearest_offer_options(struct nearest *nearest, const struct option *options)
{
    const char *name = nearest->word + strspn(nearest->word, "-");

    nearest->dashes = "--";
    for (; strncmp(nearest->word, "--", 2) == 0 && options->name != NULL; options++) {
        nearest_offer_part(nearest, name, strcspn(name, "="), options->name);
    }
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
