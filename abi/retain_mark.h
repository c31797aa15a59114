/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The marks of what D has in retained memory (abi/retain.h): a sum over the 8-byte words of
 * a record or entry, each mixed with where it stands. One word that is another changes it for sure,
 * more of them all but surely, and who changes one word need not look at the others. No CRC, as it
 * is made while a probe fires: some seven instructions a word.
 */
#ifndef KERNEL_ABI_RETAIN_MARK_H
#define KERNEL_ABI_RETAIN_MARK_H

#include <stdint.h>

/* The word at number n of something that begins at `place` of its buffer. */
static inline uint32_t retain_mark_word(uint32_t place, uint32_t n, uint64_t word)
{
    uint32_t x = ((uint32_t)word ^ (place + n) * 0x9e3779b1u) * 0x85ebca6bu;

    x = (x ^ x >> 15 ^ (uint32_t)(word >> 32)) * 0xc2b2ae35u;
    return x ^ x >> 13;
}

/* Bytes from word number n on; the last word is filled up with zeros. */
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
