/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Texts, shortened: trace/dtrace/short_text.h describes the form. A text has the number of
 * characters that it shares with the one before; of the rest the pair of codes that is most
 * frequent becomes a code of its own, again and again, as long as that makes all shorter.
 */
#include <err.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "host/gen/short_texts.h"

enum { CODES = 256, LITERALS = 128, SHARED_MOST = 30, USES_LEAST = 4 };

/* All texts in one row; numbers above CODES separate them. */
struct row {
    unsigned *codes;
    size_t n;
};

static unsigned depth_of(const struct short_texts *s, unsigned code)
{
    if (code < LITERALS) {
        return 0;
    }
    unsigned a = depth_of(s, s->pairs[code - LITERALS][0]);
    unsigned b = depth_of(s, s->pairs[code - LITERALS][1]);
    return 1 + (a > b ? a : b);
}

/* The most frequent pair that may become a code; its uses. */
static unsigned best_pair(const struct short_texts *s, const struct row *row, unsigned best[2])
{
    static unsigned uses[CODES][CODES];
    unsigned most = 0;

    memset(uses, 0, sizeof(uses));
    for (size_t i = 0; i + 1 < row->n; i++) {
        unsigned a = row->codes[i], b = row->codes[i + 1];
        if (a >= CODES || b >= CODES || depth_of(s, a) >= SHORT_TEXT_DEPTH ||
            depth_of(s, b) >= SHORT_TEXT_DEPTH) {
            continue;
        }
        if (++uses[a][b] > most) {
            most = uses[a][b];
            best[0] = a;
            best[1] = b;
        }
    }
    return most;
}

static void replace_pair(struct row *row, const unsigned pair[2], unsigned code)
{
    size_t to = 0;

    for (size_t i = 0; i < row->n; i++) {
        bool here = i + 1 < row->n && row->codes[i] == pair[0] && row->codes[i + 1] == pair[1];
        row->codes[to++] = here ? code : row->codes[i];
        i += here;
    }
    row->n = to;
}

static struct row row_make(const char *const *texts, size_t n, size_t most)
{
    struct row row = {0};
    const char *before = "";
    size_t bytes = n;

    for (size_t i = 0; i < n; i++) {
        bytes += strlen(texts[i]);
    }
    row.codes = malloc((bytes + 1) * sizeof(*row.codes));
    if (!row.codes) {
        errx(1, "no memory");
    }
    for (size_t i = 0; i < n; i++) {
        unsigned shared = 0;
        while (shared < SHARED_MOST && before[shared] && before[shared] == texts[i][shared]) {
            shared++;
        }
        if (strlen(texts[i]) >= most) {
            errx(1, "%s: too long", texts[i]);
        }
        row.codes[row.n++] = CODES + 1 + shared;
        for (const char *c = texts[i] + shared; *c; c++) {
            if (*c < ' ' || *c > '~') {
                errx(1, "%s: not of ASCII", texts[i]);
            }
            row.codes[row.n++] = (unsigned char)*c;
        }
        before = texts[i];
    }
    return row;
}

void short_texts_make(struct short_texts *s, const char *const *texts, size_t n, size_t most)
{
    struct row row = row_make(texts, n, most);
    unsigned pair[2];

    s->npairs = 0;
    while (s->npairs < CODES - LITERALS && best_pair(s, &row, pair) >= USES_LEAST) {
        s->pairs[s->npairs][0] = (unsigned char)pair[0];
        s->pairs[s->npairs][1] = (unsigned char)pair[1];
        replace_pair(&row, pair, LITERALS + s->npairs++);
    }
    s->bytes = malloc(row.n + 1);
    if (!s->bytes) {
        errx(1, "no memory");
    }
    for (size_t i = 0; i < row.n; i++) {
        s->bytes[i] = (unsigned char)(row.codes[i] % CODES);
    }
    s->bytes[row.n] = 1; /* where the last one ends */
    s->n = row.n + 1;
    free(row.codes);
}
