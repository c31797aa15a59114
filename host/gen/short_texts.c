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

enum { CODES = 256, FIRST = 32, SHARED_MOST = 30, USES_LEAST = 4 };

/* A table of codes while it is made. */
struct coding {
    unsigned ncodes;       /* the next one */
    unsigned depth[CODES]; /* of pairs within each other, by code */
};

/* All texts in one row; numbers above CODES separate them. */
struct row {
    unsigned *codes;
    size_t n;
};

/* The most frequent pair that may become a code; its uses. */
static unsigned best_pair(const struct coding *c, const struct row *row, unsigned best[2])
{
    static unsigned uses[CODES][CODES];
    unsigned most = 0;

    memset(uses, 0, sizeof(uses));
    for (size_t i = 0; i + 1 < row->n; i++) {
        unsigned a = row->codes[i], b = row->codes[i + 1];
        if (a >= CODES || b >= CODES || c->depth[a] >= SHORT_TEXT_DEPTH ||
            c->depth[b] >= SHORT_TEXT_DEPTH) {
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

/* Gives the characters that occur the first codes, and the row these codes. */
static void code_characters(struct short_texts *s, struct coding *c, struct row *row)
{
    unsigned codes[CODES] = {0};

    for (size_t i = 0; i < row->n; i++) {
        if (row->codes[i] < CODES) {
            codes[row->codes[i]] = 1;
        }
    }
    s->ncodes = 1;
    for (unsigned character = 0; character < CODES; character++) {
        if (codes[character]) {
            s->codes[s->ncodes++] = (unsigned char)character;
            codes[character] = c->ncodes++;
        }
    }
    s->codes[0] = (unsigned char)(s->ncodes - 1);
    for (size_t i = 0; i < row->n; i++) {
        row->codes[i] = row->codes[i] < CODES ? codes[row->codes[i]] : row->codes[i];
    }
}

static void code_pair(struct short_texts *s, struct coding *c, const unsigned pair[2])
{
    unsigned a = c->depth[pair[0]], b = c->depth[pair[1]];

    s->codes[s->ncodes++] = (unsigned char)pair[0];
    s->codes[s->ncodes++] = (unsigned char)pair[1];
    c->depth[c->ncodes++] = 1 + (a > b ? a : b);
}

void short_texts_make(struct short_texts *s, const char *const *texts, size_t n, size_t most)
{
    struct row row = row_make(texts, n, most);
    struct coding c = {.ncodes = FIRST};
    unsigned pair[2];

    code_characters(s, &c, &row);
    while (c.ncodes < CODES && best_pair(&c, &row, pair) >= USES_LEAST) {
        replace_pair(&row, pair, c.ncodes);
        code_pair(s, &c, pair);
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
