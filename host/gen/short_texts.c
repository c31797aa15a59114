/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Texts, shortened: trace/dtrace/short_text.h describes the form. A text has the number of
 * characters that it shares with the one before; of the rest the pair of codes that is most
 * frequent becomes a code of its own, again and again, as long as that makes all shorter. Then the
 * codes are numbered by how often they occur.
 */
#include <err.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "host/gen/short_texts.h"
#include "trace/dtrace/short_text.h"

/* CODES: of all; those that texts have themselves are USED_MOST at most. Numbers of the row above
 * CODES separate texts. */
enum { CODES = 256, FIRST = 1, SHARED_MOST = 27, USED_MOST = 208, USES_LEAST = 4 };

/* A table of codes while it is made. */
struct coding {
    unsigned ncodes;          /* the next one */
    unsigned depth[CODES];    /* of pairs within each other, by code */
    unsigned parts[CODES][2]; /* of each code: a character and 0, or two codes */
};

/* All texts in one row; numbers from CODES on separate them. */
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
        row.codes[row.n++] = CODES + shared;
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
static void code_characters(struct coding *c, struct row *row)
{
    unsigned codes[CODES] = {0};

    for (size_t i = 0; i < row->n; i++) {
        if (row->codes[i] < CODES) {
            codes[row->codes[i]] = 1;
        }
    }
    for (unsigned character = 0; character < CODES; character++) {
        if (codes[character]) {
            c->parts[c->ncodes][0] = character;
            codes[character] = c->ncodes++;
        }
    }
    for (size_t i = 0; i < row->n; i++) {
        row->codes[i] = row->codes[i] < CODES ? codes[row->codes[i]] : row->codes[i];
    }
}

static void code_pair(struct coding *c, const unsigned pair[2])
{
    unsigned a = c->depth[pair[0]], b = c->depth[pair[1]];

    c->parts[c->ncodes][0] = pair[0];
    c->parts[c->ncodes][1] = pair[1];
    c->depth[c->ncodes++] = 1 + (a > b ? a : b);
}

/* Counts how often the texts themselves have each code; returns the number of codes that they
 * have. */
static unsigned count_uses(const struct row *row, unsigned uses[CODES])
{
    unsigned used = 0;

    memset(uses, 0, CODES * sizeof(*uses));
    for (size_t i = 0; i < row->n; i++) {
        used += row->codes[i] < CODES && uses[row->codes[i]]++ == 0;
    }
    return used;
}

/* Gives the codes their numbers, and makes the table. */
static void number_codes(struct short_texts *s, const struct coding *c, const struct row *row,
                         unsigned numbers[CODES])
{
    unsigned uses[CODES], next = FIRST;

    count_uses(row, uses);
    memset(numbers, 0, CODES * sizeof(*numbers));
    while (next < c->ncodes) {
        unsigned best = 0;
        for (unsigned code = FIRST; code < c->ncodes; code++) {
            if (!numbers[code] && (!best || uses[code] > uses[best])) {
                best = code;
            }
        }
        numbers[best] = next++;
    }
    for (unsigned code = FIRST; code < c->ncodes; code++) {
        unsigned char *to = &s->codes[2 * (numbers[code] - FIRST)];
        bool pair = c->parts[code][1] != 0;
        to[0] = (unsigned char)(pair ? numbers[c->parts[code][0]] : c->parts[code][0]);
        to[1] = (unsigned char)(pair ? numbers[c->parts[code][1]] : 0);
    }
    s->ncodes = 2 * (c->ncodes - FIRST);
}

static void put_bits(struct short_texts *s, size_t *at, unsigned value, unsigned n)
{
    for (; n > 0; n--, value >>= 1, ++*at) {
        s->bytes[*at / 8] |= (unsigned char)((value & 1) << *at % 8);
    }
}

static void put_number(struct short_texts *s, size_t *at, unsigned classes, unsigned value)
{
    unsigned known = 0;

    for (; value >> (classes & 15); classes >>= 4) {
        value -= 1u << (classes & 15);
        known++;
    }
    put_bits(s, at, known, 2);
    put_bits(s, at, value, classes & 15);
}

void short_texts_make(struct short_texts *s, const char *const *texts, size_t n, size_t most)
{
    struct row row = row_make(texts, n, most);
    struct coding c = {.ncodes = FIRST};
    unsigned pair[2], numbers[CODES], uses[CODES];
    size_t bits = 0;

    code_characters(&c, &row);
    while (c.ncodes < CODES && count_uses(&row, uses) < USED_MOST &&
           best_pair(&c, &row, pair) >= USES_LEAST) {
        replace_pair(&row, pair, c.ncodes);
        code_pair(&c, pair);
    }
    number_codes(s, &c, &row, numbers);
    s->bytes = calloc(2 * row.n + 4, 1);
    if (!s->bytes) {
        errx(1, "no memory");
    }
    for (size_t i = 0; i < row.n; i++) {
        unsigned code = row.codes[i];
        if (code < CODES) {
            put_number(s, &bits, SHORT_TEXT_CODES, numbers[code]);
            continue;
        }
        if (i > 0) {
            put_number(s, &bits, SHORT_TEXT_CODES, 0);
        }
        put_number(s, &bits, SHORT_TEXT_SHARED, code - CODES);
    }
    put_number(s, &bits, SHORT_TEXT_CODES, 0);
    s->n = bits / 8 + 4; /* numbers are read four bytes at a time */
    free(row.codes);
}
