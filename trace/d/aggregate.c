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

#define ONES 0x0101010101010101u

/* Whether one of its bytes is 0. */
static bool has_nul(uint64_t word)
{
    return (word - ONES) & ~word & (ONES << 7);
}

static uint64_t word_at(const uint8_t *p, uint32_t size)
{
    uint64_t word = 0;

    if (size >= 8) {
        __builtin_memcpy(&word, p, 8);
    } else {
        __builtin_memcpy(&word, p, size);
    }
    return word;
}

static uint32_t mix(uint32_t hash, uint64_t word)
{
    hash = (hash ^ (uint32_t)word) * 0x9e3779b1u;
    hash = (hash ^ hash >> 15 ^ (uint32_t)(word >> 32)) * 0x85ebca6bu;
    return hash ^ hash >> 13;
}

/* Strings only to the word that has their NUL: most are short, and their fields long. */
static uint32_t hash_text(uint32_t hash, const uint8_t *p, uint32_t size)
{
    uint64_t word = 1;

    for (uint32_t i = 0; i < size && !has_nul(word); i += 8) {
        word = word_at(p + i, size - i);
        hash = mix(hash, word);
    }
    return hash;
}

static uint32_t hash_words(uint32_t hash, const uint8_t *p, uint32_t size)
{
    for (uint32_t i = 0; i < size; i += 8) {
        hash = mix(hash, word_at(p + i, size - i));
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
    for (uint32_t i = 0; i < size; i += 8) {
        uint64_t word = word_at(a + i, size - i);
        if (word != word_at(b + i, size - i)) {
            return false;
        }
        if (has_nul(word)) {
            return true;
        }
    }
    return true;
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
