/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hash of keys, in the tables of aggregations and of dynamic variables. A key is taken 8 bytes
 * at a time; each word costs one multiplication of 32 by 32 bits to 64, the end another one.
 *
 * Every bit of a key must reach the low bits of the hash, which choose the chain: keys in practice
 * are small integers, process ids, addresses, and strings that differ in one character, and a full
 * chain loses data (chain.h). Keys with one hash can be constructed; then chain.h bounds the time.
 * Probe context. Tested by test/d_fire/pattern_test.c.
 */
#ifndef TRACE_D_HASH_H
#define TRACE_D_HASH_H

#include <stdint.h>

struct d_hash {
    uint32_t a, b;
};

/* Odd random numbers; not those of well-known hashes, whose values may be keys themselves. */
#define D_HASH_START ((struct d_hash){0xb5c91f4du, 0x6d0f3a97u})
#define D_HASH_END ((struct d_hash){0xe2b75d19u, 0x4c8e95a3u})

/* Both factors are added to the result: neither 0 nor any other factor hides all of the other one.
 */
static inline void d_hash_add(struct d_hash *h, uint64_t word)
{
    uint32_t a = h->a ^ (uint32_t)word, b = h->b ^ (uint32_t)(word >> 32);
    uint64_t product = (uint64_t)a * b;

    h->a = a + (uint32_t)(product >> 32);
    h->b = b + (uint32_t)product;
}

/* number: of the aggregation or variable. */
static inline uint32_t d_hash_end(const struct d_hash *h, uint32_t number)
{
    uint32_t a = h->a ^ D_HASH_END.a, b = h->b ^ D_HASH_END.b ^ number;
    uint64_t product = (uint64_t)a * b;

    return b ^ (uint32_t)product ^ (uint32_t)(product >> 32);
}

#endif
