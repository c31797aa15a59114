/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Marks of D's data in retained memory (abi/retain.h): a sum over the 8-byte words of a record or
 * entry, each mixed with its location. A single changed word is always detected, several with near
 * certainty, and code that changes one word need not read the others. Not a CRC, because marks are
 * computed in probe context: about seven instructions per word.
 */
#ifndef ABI_RETAIN_MARK_H
#define ABI_RETAIN_MARK_H

#include <stdint.h>

/* Mixes word number n of an item that begins at offset `place` of its buffer. */
static inline uint32_t retain_mark_word(uint32_t place, uint32_t n, uint64_t word)
{
    uint32_t x = ((uint32_t)word ^ (place + n) * 0x9e3779b1u) * 0x85ebca6bu;

    x = (x ^ x >> 15 ^ (uint32_t)(word >> 32)) * 0xc2b2ae35u;
    return x ^ x >> 13;
}

/* Sums the bytes from word number n on; the last word is padded with zeros. */
static inline uint32_t retain_mark(uint32_t place, uint32_t n, const uint8_t *bytes, uint32_t size)
{
    uint32_t sum = 0;

    for (; size > 0; n++) {
        uint32_t part = size < 8 ? size : 8;
        uint64_t word = 0;

        __builtin_memcpy(&word, bytes, part);
        sum += retain_mark_word(place, n, word);
        bytes += part;
        size -= part;
    }
    return sum;
}

#endif
