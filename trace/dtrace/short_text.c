/* SPDX-License-Identifier: BSD-2-Clause */
/* See short_text.h. Tested by test/d_machine/reason_test.c and test/boot's suite fbt. */
#include "trace/dtrace/short_text.h"

/* Returns where the text continues. The depth of pairs within each other is limited. */
static char *text_add(char *text, const uint8_t *codes, unsigned code)
{
    unsigned n = code - SHORT_TEXT_LITERAL, characters = codes[0];

    if (n < characters) {
        *text = (char)codes[1 + n];
        return text + 1;
    }
    const uint8_t *pair = &codes[1 + characters + 2 * (n - characters)];
    return text_add(text_add(text, codes, pair[0]), codes, pair[1]);
}

const uint8_t *dtrace_short_text(const uint8_t *code, const uint8_t *codes, char *text)
{
    text += *code++ - 1;
    while (*code >= SHORT_TEXT_LITERAL) {
        text = text_add(text, codes, *code++);
    }
    *text = '\0';
    return code;
}
