/* SPDX-License-Identifier: BSD-2-Clause */
/* Decodes texts: see short_text.h. Tested by test/trace/dtrace/machine/reason_test.c and
 * test/board's suite fbt. */
#include "trace/dtrace/short_text.h"

static unsigned text_bits(const uint8_t *texts, unsigned *bit, unsigned n)
{
    unsigned bits = short_text_bits(texts, *bit) & ((1u << n) - 1);

    *bit += n;
    return bits;
}

static unsigned text_number(const uint8_t *texts, unsigned *bit, unsigned classes)
{
    unsigned before = 0;

    for (unsigned n = text_bits(texts, bit, 2); n > 0; n--) {
        before += 1u << (classes & 15);
        classes >>= 4;
    }
    return before + text_bits(texts, bit, classes & 15);
}

/* Appends a code's characters. Returns the position where the text continues. The nesting of pairs
 * is limited. */
static char *text_add(char *text, const uint8_t *codes, unsigned code)
{
    const uint8_t *pair = &codes[2 * (code - 1)];

    if (pair[1] == 0) {
        *text = (char)pair[0];
        return text + 1;
    }
    return text_add(text_add(text, codes, pair[0]), codes, pair[1]);
}

unsigned dtrace_short_text(const uint8_t *texts, unsigned bit, const uint8_t *codes, char *text)
{
    unsigned code;

    text += text_number(texts, &bit, SHORT_TEXT_SHARED);
    while ((code = text_number(texts, &bit, SHORT_TEXT_CODES)) != 0) {
        text = text_add(text, codes, code);
    }
    *text = '\0';
    return bit;
}
