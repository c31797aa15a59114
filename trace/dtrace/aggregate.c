/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The aggregation buffer's hash table. A key is written at the location of a new entry; if the key
 * exists already, the old entry takes the value. Tested by test/trace/dtrace/fire.
 */
#include "trace/dtrace/aggregate.h"

#include "trace/assert.h"
#include "trace/dtrace/ecb.h"
#include "trace/dtrace/hash.h"

#define ONES 0x0101010101010101u

/* Returns whether one of the word's bytes is 0. */
static bool aggregate_has_nul(uint64_t word)
{
    return (word - ONES) & ~word & (ONES << 7);
}

/* Returns 8 bytes of a field, or the rest of it. The bytes after a key are still in its entry. */
static inline uint64_t aggregate_word_at(const uint8_t *p, uint32_t left)
{
    uint64_t word;

    __builtin_memcpy(&word, p, sizeof(word));
    return left < 8 ? word & (((uint64_t)1 << 8 * left) - 1) : word;
}

/* Hashes a string only up to the word with its NUL: most are short, and their fields long. The
 * bytes after the NUL in that word are 0. */
static inline uint32_t hash_keys(const struct dtrace_aggregation *a, const uint8_t *entry)
{
    const struct dtrace_action *key = a->keys, *end = key + a->nkeys;
    uint64_t hash = DTRACE_HASH_START, word;

    do {
        const uint8_t *p = entry + key->rec.offset;
        uint32_t left = key->rec.size;
        for (;; p += 8, left -= 8) { /* ends with the field */
            word = aggregate_word_at(p, left);
            hash = dtrace_hash_add(hash, word);
            if (left <= 8 || (key->is_string && aggregate_has_nul(word))) {
                break;
            }
        }
    } while (++key < end);
    return dtrace_hash_end(hash, a->id);
}

static bool same_keys(const struct dtrace_aggregation *a, const uint8_t *x, const uint8_t *y)
{
    const struct dtrace_action *key = a->keys, *end = key + a->nkeys;

    do {
        uint32_t at = key->rec.offset, left = key->rec.size;
        for (;; at += 8, left -= 8) { /* ends with the field */
            uint64_t word = aggregate_word_at(x + at, left);
            if (word != aggregate_word_at(y + at, left)) {
                return false;
            }
            if (left <= 8 || (key->is_string && aggregate_has_nul(word))) {
                break;
            }
        }
    } while (++key < end);
    return true;
}

/* Zeroes the bytes after strings and alignment gaps: the entry leaves the machine, and keys are
 * merged by all their bytes. */
static void finish_keys(const struct dtrace_aggregation *a, uint8_t *entry)
{
    uint32_t at = sizeof(struct dtrace_agg_entry);

    for (uint32_t i = 0; i < a->nkeys; i++) {
        uint32_t n = a->keys[i].rec.offset, end = n + a->keys[i].rec.size;
        __builtin_memset(entry + at, 0, n - at);
        at = end;
        if (a->keys[i].is_string) {
            while (n < end && entry[n]) {
                n++;
            }
            at = n;
        }
    }
    __builtin_memset(entry + at, 0, a->value - at);
}

/* Makes the new entry part of the buffer. Returns NULL if there is no room, which is counted. */
static __attribute__((noinline)) struct dtrace_agg_entry *
aggregate_insert(struct dtrace_aggbuf *b, const struct dtrace_aggregation *a, uint8_t *entry,
                 uint32_t hash)
{
    struct dtrace_agg_entry *fresh = (struct dtrace_agg_entry *)entry;
    uint32_t *head = &b->heads[hash & (b->chains - 1)];
    struct dtrace_chain_room room = {0, 0};

    trace_assert(entry == b->active + b->used);
    for (uint32_t at = *head; at && b->used + a->size <= b->limit;) {
        const struct dtrace_agg_entry *old = (const struct dtrace_agg_entry *)(b->active + at - 1);
        trace_assert(at <= b->used);
        dtrace_chain_pass(&room, old->hash == hash);
        at = old->next;
    }
    if (b->used + a->size > b->limit || dtrace_chain_full(&room, DTRACE_CHAIN_ENTRIES)) {
        b->drops++;
        return NULL;
    }
    finish_keys(a, entry);
    *fresh = (struct dtrace_agg_entry){a->id, a->size, hash, *head};
    *head = (uint32_t)b->used + 1;
    b->used += a->size;
    dtrace_agg_init(a, (uint64_t *)(entry + a->value));
    return fresh;
}

uint64_t *dtrace_agg_find(struct dtrace_aggbuf *b, const struct dtrace_aggregation *a,
                          uint8_t *entry)
{
    struct dtrace_agg_entry *e;
    uint32_t hash = a->id;

    if (a->nkeys == 0) { /* there is one entry: its id is the hash */
        for (uint32_t at = b->heads[hash & (b->chains - 1)]; at; at = e->next) {
            e = (struct dtrace_agg_entry *)(b->active + at - 1);
            if (e->id == a->id) {
                return (uint64_t *)((uint8_t *)e + a->value);
            }
        }
    } else {
        hash = hash_keys(a, entry);
        for (uint32_t at = b->heads[hash & (b->chains - 1)]; at; at = e->next) {
            e = (struct dtrace_agg_entry *)(b->active + at - 1);
            if (e->hash == hash && e->id == a->id && same_keys(a, (uint8_t *)e, entry)) {
                return (uint64_t *)((uint8_t *)e + a->value);
            }
        }
    }
    e = aggregate_insert(b, a, entry, hash);
    return e ? (uint64_t *)((uint8_t *)e + a->value) : NULL;
}

void dtrace_agg_ready(struct dtrace_aggbuf *b)
{
    __builtin_memset(b->spare_heads, 0, sizeof(*b->heads) * b->chains);
}

const uint8_t *dtrace_agg_swap(struct dtrace_aggbuf *b, size_t *size)
{
    uint8_t *read = b->active;
    uint32_t *heads = b->heads;

    *size = b->used;
    b->active = b->spare;
    b->spare = read;
    b->used = 0;
    b->heads = b->spare_heads;
    b->spare_heads = heads;
    return read;
}
