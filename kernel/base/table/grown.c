/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables whose entries are allocated when they are first used: see grown.h. Memory comes in pieces,
 * from which entries of all tables are cut one after the other; a piece is extended as long as the
 * memory after it is free. Memory is never given back: a free entry is used again by its table. So
 * pieces avoid the addresses where programs are linked to have their data (table_extend). Kernel
 * lock held. Tested by test/kernel/base/table/table_grown_test.c and
 * test/board/in_place/t_placed.c.
 */
#include "kernel/base/table.h"

#include "kernel/base/assert.h"

#define ENTRY_ALIGN sizeof(uint64_t)

static table_extend *table_more; /* [I] */
static char *piece_rest;         /* [k] the unused part of the newest piece */
static size_t piece_left;        /* [k] its bytes */

void table_init(size_t ram, table_allocate *allocate, table_extend *extend)
{
    (void)ram;
    (void)allocate;
    table_more = extend;
    piece_rest = NULL;
    piece_left = 0;
}

static inline size_t entry_round(size_t bytes, size_t to)
{
    return (bytes + to - 1) / to * to;
}

/* Extends the piece, or begins a new one, so that this many bytes are left. Returns false if there
 * is no memory. */
static bool table_piece(size_t bytes)
{
    size_t more = entry_round(bytes - piece_left, CONFIG_TABLE_PIECE);

    if (piece_rest && table_more(piece_rest + piece_left, more)) {
        piece_left += more;
        return true;
    }
    more = entry_round(bytes, CONFIG_TABLE_PIECE);
    char *piece = table_more(NULL, more);
    if (!piece) {
        return false;
    }
    piece_rest = piece;
    piece_left = more;
    return true;
}

void *table_new_entry(size_t bytes)
{
    bytes = entry_round(bytes, ENTRY_ALIGN);
    kernel_assert(table_more);
    if (piece_left < bytes && !table_piece(bytes)) {
        return NULL;
    }
    void *entry = piece_rest;
    piece_rest += bytes;
    piece_left -= bytes;
    return entry;
}

unsigned table_index(void **entries, void *entry)
{
    unsigned i = 0;

    while (entries[i] && entries[i] != entry) { /* bounded by the table's size */
        i++;
    }
    entries[i] = entry;
    return i;
}

size_t table_with(void *const *entries, size_t n, size_t bytes, const void *p)
{
    size_t i = 0;

    while (i < n && (size_t)((const char *)p - (const char *)entries[i]) >= bytes) {
        i++;
    }
    return i;
}
