/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Texts stored short, made by host/gen/short_texts.c: one behind the other, as a row of bits, of
 * each byte the lowest first. A number is two bits, its class, and as many more as the class has:
 * their value, and 2^bits of each class before it. Each text:
 *
 *   SHORT_TEXT_SHARED   number of characters that it has of the text before
 *   SHORT_TEXT_CODES    codes, the most frequent ones first, up to 0
 *
 * The table has two bytes of each code from 1 on: a character and 0, or two codes. A code stands
 * for these, which may be pairs themselves, 8 deep.
 */
#ifndef TRACE_DTRACE_SHORT_TEXT_H
#define TRACE_DTRACE_SHORT_TEXT_H

#include <stdint.h>

/* Bits of each class, four bits each, the lowest first. */
enum { SHORT_TEXT_SHARED = 0x4222, SHORT_TEXT_CODES = 0x7640 };

/* Returns the next bits of a row, at least 25: it reads four bytes, which may be behind its end. */
static inline uint32_t short_text_bits(const uint8_t *row, unsigned bit)
{
    uint32_t bits;

    __builtin_memcpy(&bits, row + bit / 8, sizeof(bits));
    return bits >> bit % 8;
}

/* Makes in `text` the text that begins at this bit from the one that is there, which the one before
 * in the row is. Returns where the next one begins. Any context. */
unsigned dtrace_short_text(const uint8_t *texts, unsigned bit, const uint8_t *codes, char *text);

#endif
