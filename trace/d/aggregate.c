/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The aggregation buffer's hash table. A key is written where a new entry would lie; if it is there
 * already, the old entry takes the value. Keys are compared and hashed as recorded, strings with
 * what follows their NUL zeroed.
 */
#include "trace/d/aggregate.h"

#include "trace/d/ecb.h"

uint8_t *d_agg_entry(struct d_aggbuf *b)
{
    return b->active ? b->active + b->used : NULL;
}

/* Strings are hashed to their NUL only: most are short, and their fields long. */
static uint32_t hash_text(uint32_t hash, const uint8_t *p, uint32_t size)
{
    for (uint32_t i = 0; i < size && p[i]; i++) {
        hash = (hash ^ p[i]) * 0x01000193u;
    }
    return hash;
}

static uint32_t hash_words(uint32_t hash, const uint8_t *p, uint32_t size)
{
    for (uint32_t i = 0; i < size; i += 4) {
        uint32_t word = 0;
        __builtin_memcpy(&word, p + i, size - i < 4 ? size - i : 4);
        hash = (hash ^ word) * 0x9e3779b1u;
        hash ^= hash >> 15;
    }
    return hash;
}

static uint32_t hash_keys(const struct d_aggregation *a, const uint8_t *entry)
{
    uint32_t hash = a->id;

    for (uint32_t i = 0; i < a->nkeys; i++) {
        const struct d_action *key = &a->keys[i];
        const uint8_t *p = entry + key->rec.offset;
        hash =
            key->is_string ? hash_text(hash, p, key->rec.size) : hash_words(hash, p, key->rec.size);
    }
    return hash ^ hash >> 16;
}

static bool same_text(const uint8_t *a, const uint8_t *b, uint32_t size)
{
    uint32_t i = 0;

    while (i < size && a[i] == b[i] && a[i]) {
        i++;
    }
    return i == size || a[i] == b[i];
}

static bool same_key(const struct d_aggregation *a, const uint8_t *x, const uint8_t *y)
{
    for (uint32_t i = 0; i < a->nkeys; i++) {
        const struct d_recdesc *r = &a->keys[i].rec;
        const uint8_t *p = x + r->offset, *q = y + r->offset;
        if (a->keys[i].is_string ? !same_text(p, q, r->size)
                                 : __builtin_memcmp(p, q, r->size) != 0) {
            return false;
        }
    }
    return true;
}

/* The entry with this key, or the new one, now part of the buffer; NULL: no room, counted. */
static struct d_agg_entry *find(struct d_aggbuf *b, const struct d_aggregation *a, uint8_t *entry)
{
    struct d_agg_entry *fresh = (struct d_agg_entry *)entry;
    uint32_t hash = hash_keys(a, entry);
    uint32_t *head = &b->heads[hash & (b->chains - 1)];

    for (uint32_t at = *head; at;) {
        struct d_agg_entry *old = (struct d_agg_entry *)(b->active + at - 1);
        if (old->hash == hash && old->id == a->id && same_key(a, (uint8_t *)old, entry)) {
            return old;
        }
        at = old->next;
    }
    if (b->used + a->size > b->limit) {
        b->drops++;
        return NULL;
    }
    *fresh = (struct d_agg_entry){a->id, a->size, hash, *head};
    *head = (uint32_t)b->used + 1;
    b->used += a->size;
    d_agg_init(a, (uint64_t *)(entry + a->value));
    return fresh;
}

void d_agg_fold(struct d_aggbuf *b, const struct d_aggregation *a, uint8_t *entry, uint64_t value,
                uint64_t weight)
{
    struct d_agg_entry *e = find(b, a, entry);

    if (e) {
        d_agg_update(a, (uint64_t *)((uint8_t *)e + a->value), value, weight);
    }
}

const uint8_t *d_agg_swap(struct d_aggbuf *b, size_t *size)
{
    uint8_t *read = b->active;

    *size = b->used;
    b->active = b->spare;
    b->spare = read;
    b->used = 0;
    __builtin_memset(b->heads, 0, sizeof(*b->heads) * b->chains);
    return read;
}
