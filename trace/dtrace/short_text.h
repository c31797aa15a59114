/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Texts stored short, made by host/gen/short_texts.c. One behind the other, each of them:
 *
 *   a byte below SHORT_TEXT_LITERAL  so many characters less one it has of the text before
 *   the rest                         characters, or from SHORT_TEXT_PAIR on numbers in a table of
 *                                    pairs, whose two bytes stand for it; they may be such numbers
 *                                    themselves, 8 deep
 *
 * Behind the last text another one begins.
 */
#ifndef TRACE_DTRACE_SHORT_TEXT_H
#define TRACE_DTRACE_SHORT_TEXT_H

#include <stdint.h>

enum { SHORT_TEXT_LITERAL = 0x20, SHORT_TEXT_PAIR = 0x80 };

/* Makes in `text` the text that begins at `code` from the one that is there, which the one before
 * in the row is. Returns where the next one begins. Any context. */
const uint8_t *dtrace_short_text(const uint8_t *code, const uint8_t *pairs, char *text);

#endif
