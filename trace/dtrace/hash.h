/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hash of keys in the tables of aggregations and of dynamic variables. A key is hashed 8 bytes
 * at a time; each word costs one multiplication of 32 by 32 bits to 64, and finishing costs
 * another.
 *
 * Every bit of a key must reach the low bits of the hash, which choose the chain: typical keys are
 * small integers, process ids, addresses, and strings that differ in one character, and a full
 * chain loses data. Keys with the same hash can be constructed; then the limits below bound the
 * time. Probe context. Tested by test/trace/dtrace/fire/pattern_test.c, test/trace/dtrace/random.
 */
#ifndef TRACE_DTRACE_HASH_H
#define TRACE_DTRACE_HASH_H

#include <stdbool.h>
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

/* number: that of the aggregation or variable. */
static inline uint32_t dtrace_hash_end(uint64_t hash, uint32_t number)
{
    uint32_t a = (uint32_t)hash ^ (uint32_t)DTRACE_HASH_END;
    uint32_t b = (uint32_t)(hash >> 32) ^ (uint32_t)(DTRACE_HASH_END >> 32) ^ number;
    uint64_t product = (uint64_t)a * b;

    return b ^ (uint32_t)product ^ (uint32_t)(product >> 32);
}

/* ---- the length of a chain --------------------------------------------------------- */

/*
 * Limits on the length of a hash chain, so that a lookup has a bound that can be computed in
 * advance (cost.c). Tables are large enough for chains to be short; a program whose keys all fall
 * on one chain gets drops, which are counted, but costs no more time. Keys with the very same hash
 * are compared byte by byte, so only a few of them are allowed.
 */
enum {
    DTRACE_CHAIN_DYNAMIC = 16, /* dynamic variables: as many chains as variables */
    DTRACE_CHAIN_ENTRIES = 48, /* aggregations: one chain for every 4 of the smallest entries */
    DTRACE_CHAIN_ALIKE = 4,    /* keys with the same hash */
};

/* Counts a chain that is walked before a new element joins it. */
struct dtrace_chain_room {
    uint32_t length, alike;
};

static inline void dtrace_chain_pass(struct dtrace_chain_room *room, bool same_hash)
{
    room->length++;
    room->alike += same_hash;
}

static inline bool dtrace_chain_full(const struct dtrace_chain_room *room, uint32_t most)
{
    return room->length >= most || room->alike >= DTRACE_CHAIN_ALIKE;
}

#endif
