/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Texts stored short, made by host/gen/short_texts.c. One behind the other, each of them:
 *
 *   a byte below SHORT_TEXT_LITERAL  so many characters less one it has of the text before
 *   the rest                         codes: SHORT_TEXT_LITERAL is the first one in their table
 *
 * Behind the last text another one begins. The table of codes:
 *
 *   a byte                           number of characters
 *   the characters                   those that occur: their codes are the first ones
 *   pairs                            two codes each, which stand for it; they may be pairs
 *                                    themselves, 8 deep
 */
#ifndef TRACE_DTRACE_SHORT_TEXT_H
#define TRACE_DTRACE_SHORT_TEXT_H

#include <stdint.h>

enum { SHORT_TEXT_LITERAL = 0x20 };

/* Makes in `text` the text that begins at `code` from the one that is there, which the one before
 * in the row is. Returns where the next one begins. Any context. */
const uint8_t *dtrace_short_text(const uint8_t *code, const uint8_t *codes, char *text);

#endif
