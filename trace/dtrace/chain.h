/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Limits on the length of a hash chain, so that a lookup has a bound that can be computed in
 * advance (cost.c). Tables are large enough for chains to be short; a program whose keys all fall
 * on one chain gets drops, which are counted, but costs no more time. Keys with the very same hash
 * are compared byte by byte, so only a few of them are allowed. Proved by test/d_fire,
 * test/d_random.
 */
#ifndef TRACE_DTRACE_CHAIN_H
#define TRACE_DTRACE_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

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
