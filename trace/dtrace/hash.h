/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hash of keys in the tables of aggregations and of dynamic variables. A key is hashed 8 bytes
 * at a time; each word costs one multiplication of 32 by 32 bits to 64, and finishing costs
 * another.
 *
 * Every bit of a key must reach the low bits of the hash, which choose the chain: typical keys are
 * small integers, process ids, addresses, and strings that differ in one character, and a full
 * chain loses data (chain.h). Keys with the same hash can be constructed; then chain.h bounds the
 * time. Probe context. Tested by test/d_fire/pattern_test.c.
 */
#ifndef TRACE_DTRACE_HASH_H
#define TRACE_DTRACE_HASH_H

#include <stdint.h>

/* Random numbers; not those of well-known hashes, whose values may occur as keys. */
#define DTRACE_HASH_START UINT64_C(0x6d0f3a97b5c91f4d)
#define DTRACE_HASH_END UINT64_C(0x4c8e95a3e2b75d19)

/* Mixes the halves a and b: (2^32 + a) * (b + 1) - 2^32, so that no value of one half hides the
 * other. */
static inline uint64_t dtrace_hash_add(uint64_t hash, uint64_t word)
{
    hash ^= word;
    return hash + (uint64_t)(uint32_t)hash * (uint32_t)(hash >> 32);
}

/* number: the aggregation's or variable's. */
static inline uint32_t dtrace_hash_end(uint64_t hash, uint32_t number)
{
    uint32_t a = (uint32_t)hash ^ (uint32_t)DTRACE_HASH_END;
    uint32_t b = (uint32_t)(hash >> 32) ^ (uint32_t)(DTRACE_HASH_END >> 32) ^ number;
    uint64_t product = (uint64_t)a * b;

    return b ^ (uint32_t)product ^ (uint32_t)(product >> 32);
}

#endif
