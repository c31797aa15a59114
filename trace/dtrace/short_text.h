/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Texts in a compact encoding, made by host/gen/short_texts.c: one after the other, as a sequence
 * of bits, of each byte the lowest first. A number is encoded as two bits, its class, and as many
 * further bits as the class has: the number is their value, plus 2^bits of each lower class. Each
 * text has:
 *
 *   SHORT_TEXT_SHARED   the number of characters that it shares with the previous text
 *   SHORT_TEXT_CODES    codes, the most frequent ones first, up to 0
 *
 * The table has two bytes for each code from 1 on: a character and 0, or two codes. A code stands
 * for these, which may be pairs themselves, up to 8 deep.
 */
#ifndef TRACE_DTRACE_SHORT_TEXT_H
#define TRACE_DTRACE_SHORT_TEXT_H

#include <stdint.h>

/* Bits of each class, four bits each, the lowest first. */
enum { SHORT_TEXT_SHARED = 0x4222, SHORT_TEXT_CODES = 0x7640 };

/* Returns the next bits of a sequence, at least 25: it reads four bytes, which may be beyond its
 * end. */
static inline uint32_t short_text_bits(const uint8_t *row, unsigned bit)
{
    uint32_t bits;

    __builtin_memcpy(&bits, row + bit / 8, sizeof(bits));
    return bits >> bit % 8;
}

/* Decodes the text that begins at this bit into `text`, which must contain the previous text of the
 * sequence. Returns the position of the next text. Any context. */
unsigned dtrace_short_text(const uint8_t *texts, unsigned bit, const uint8_t *codes, char *text);

#endif
