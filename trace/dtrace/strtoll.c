/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * strtoll(): blanks, a sign, 0x in base 16, digits up to the first other character. Overflow wraps.
 * Probe context. Tested by test/trace/dtrace/machine/subr_test.c.
 */
#include "trace/dtrace/subr.h"

enum { NO_DIGIT = 255 };

static uint8_t digit_of(uint8_t byte)
{
    uint8_t small = byte | 32;

    if ('0' <= byte && byte <= '9') {
        return (uint8_t)(byte - '0');
    }
    return 'a' <= small && small <= 'z' ? (uint8_t)(small - 'a' + 10) : NO_DIGIT;
}

/* The string argument, terminated where it is too long. */
struct source {
    struct dtrace_text text;
    size_t at, end;
};

static uint8_t strtoll_peek(struct source *s, unsigned ahead)
{
    return s->end - s->at > ahead ? dtrace_text_byte(&s->text, s->at + ahead) : 0;
}

uint64_t dtrace_subr_strtoll(struct dtrace_context *c)
{
    uint64_t base = dtrace_arg_or(c, 1, 10), value = 0;
    struct source s = {.at = 0, .end = dtrace_arg_length(c, 0)};
    bool negative;

    if (base < 2 || base > 36) {
        return dtrace_illegal(c);
    }
    dtrace_text_open(&s.text, c, dtrace_arg(c, 0), false);
    while (strtoll_peek(&s, 0) == ' ' || strtoll_peek(&s, 0) == '\t') {
        s.at++;
    }
    negative = strtoll_peek(&s, 0) == '-';
    s.at += negative || strtoll_peek(&s, 0) == '+';
    if (base == 16 && strtoll_peek(&s, 0) == '0' && (strtoll_peek(&s, 1) | 32) == 'x' &&
        digit_of(strtoll_peek(&s, 2)) < 16) {
        s.at += 2;
    }
    for (; digit_of(strtoll_peek(&s, 0)) < base; s.at++) {
        value = value * base + digit_of(strtoll_peek(&s, 0));
    }
    return negative ? 0 - value : value;
}
