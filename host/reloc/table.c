/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes a program's relocation table: see table.h. */
#include <stdbool.h>
#include <stdlib.h>

#include "abi/reloc.h"
#include "host/reloc/table.h"

enum { WORD = 4, ROW_LEAST = 8 };

/* Bytes for one word at most: a new group, its padding, three codes for far places. */
enum { WORD_MOST = RELOC_GROUP_BYTES + 3 + (UINT32_MAX / RELOC_FAR_MOST + 1) * 4 + 1 };

struct writer {
    uint8_t *bytes;
    size_t len;
    size_t group;    /* where the group begins */
    uint32_t cursor; /* its place by now */
};

static void reloc_put_byte(struct writer *w, unsigned byte)
{
    w->bytes[w->len++] = (uint8_t)byte;
}

static void put_word(struct writer *w, uint32_t word)
{
    for (unsigned i = 0; i < WORD; i++) {
        reloc_put_byte(w, word >> 8 * i & 0xff);
    }
}

static void group_open(struct writer *w, const struct reloc_place *p)
{
    w->group = w->len;
    w->cursor = 0;
    put_word(w, p->in);
    put_word(w, p->to);
    put_word(w, 0);
}

static void group_close(struct writer *w)
{
    while (w->len % WORD) {
        reloc_put_byte(w, 0);
    }
    size_t end = w->len, codes = end - w->group - RELOC_GROUP_BYTES;
    w->len = w->group + 2 * WORD;
    put_word(w, (uint32_t)codes);
    w->len = end;
}

/* The codes of one word that is `gap` bytes away. */
static void put_near(struct writer *w, uint32_t gap)
{
    if (gap % WORD || gap / WORD >= RELOC_NEAR) {
        for (; gap > 0; gap -= gap < RELOC_FAR_MOST ? gap : RELOC_FAR_MOST) {
            uint32_t skip = gap < RELOC_FAR_MOST ? gap : RELOC_FAR_MOST;
            put_word(w, RELOC_FAR | skip << 8);
        }
    }
    reloc_put_byte(w, gap / WORD + 1);
}

/* A code for a few words takes the target longer than one for each of them. */
static void put_row(struct writer *w, size_t words)
{
    while (words >= ROW_LEAST) {
        size_t some = words < RELOC_ROW - RELOC_NEAR ? words : RELOC_ROW - RELOC_NEAR;
        reloc_put_byte(w, RELOC_NEAR + (unsigned)some);
        words -= some;
    }
    for (; words > 0; words--) {
        reloc_put_byte(w, 1);
    }
}

static bool same_group(const struct reloc_place *a, const struct reloc_place *b)
{
    return a->in == b->in && a->to == b->to;
}

static int by_group(const void *a, const void *b)
{
    const struct reloc_place *p = a, *q = b;
    uint32_t x[] = {p->in, p->to, p->offset}, y[] = {q->in, q->to, q->offset};

    for (unsigned i = 0; i < 3; i++) {
        if (x[i] != y[i]) {
            return x[i] < y[i] ? -1 : 1;
        }
    }
    return 0;
}

/* The codes of the places of a group; returns how many there are, 0: two overlap. */
static size_t put_group(struct writer *w, const struct reloc_place *p, size_t n)
{
    size_t i = 0;

    group_open(w, p);
    while (i < n && same_group(p, &p[i])) {
        if (p[i].offset < w->cursor) {
            return 0;
        }
        put_near(w, p[i].offset - w->cursor);
        size_t row = 1;
        while (i + row < n && same_group(p, &p[i + row]) &&
               p[i + row].offset == p[i].offset + row * WORD) {
            row++;
        }
        put_row(w, row - 1);
        w->cursor = p[i].offset + (uint32_t)row * WORD;
        i += row;
    }
    group_close(w);
    return i;
}

uint8_t *reloc_table_make(struct reloc_place *places, size_t n, size_t *len)
{
    struct writer w = {.bytes = malloc(WORD + n * WORD_MOST)};

    if (!w.bytes) {
        return NULL;
    }
    qsort(places, n, sizeof(*places), by_group);
    put_word(&w, RELOC_MAGIC);
    for (size_t i = 0; i < n;) {
        size_t some = put_group(&w, places + i, n - i);
        if (some == 0) {
            free(w.bytes);
            return NULL;
        }
        i += some;
    }
    *len = w.len;
    return w.bytes;
}
