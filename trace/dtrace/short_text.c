/* SPDX-License-Identifier: BSD-2-Clause */
/* See short_text.h. Tested by test/d_machine/reason_test.c and test/boot's suite fbt. */
#include "trace/dtrace/short_text.h"

/* Returns where the text continues. The depth of pairs within each other is limited. */
static char *text_add(char *text, const uint8_t *pairs, unsigned code)
{
    if (code < SHORT_TEXT_PAIR) {
        *text = (char)code;
        return text + 1;
    }
    const uint8_t *pair = &pairs[2 * (code - SHORT_TEXT_PAIR)];
    return text_add(text_add(text, pairs, pair[0]), pairs, pair[1]);
}

const uint8_t *dtrace_short_text(const uint8_t *code, const uint8_t *pairs, char *text)
{
    text += *code++ - 1;
    while (*code >= SHORT_TEXT_LITERAL) {
        text = text_add(text, pairs, *code++);
    }
    *text = '\0';
    return code;
}
