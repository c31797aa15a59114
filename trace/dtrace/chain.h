/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long a hash chain may be, so that a look into one has a bound that can be told beforehand
 * (cost.c). Tables have room enough for chains to be short; whoever finds keys that all fall on one
 * chain gets drops, counted, not time. Of keys with the very same hash, which are compared byte by
 * byte, there are a few at most. Proved by test/d_fire, test/d_random.
 */
#ifndef TRACE_DTRACE_CHAIN_H
#define TRACE_DTRACE_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

enum {
    DTRACE_CHAIN_DYNAMIC = 16, /* of dynamic variables: as many chains as variables */
    DTRACE_CHAIN_ENTRIES = 48, /* of an aggregation: a chain for every 4 of its smallest entries */
    DTRACE_CHAIN_ALIKE = 4,    /* of one hash */
};

/* Of a chain that is walked before something new joins it. */
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
