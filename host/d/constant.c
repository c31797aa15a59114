/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Constants: integers typed as C does, character constants of up to eight characters, strings.
 */
#include "host/d/front.h"

#include <ctype.h>
#include <string.h>

static bool fits(const struct d_type *t, uint64_t value)
{
    unsigned bits = (unsigned)t->size * 8 - (t->is_signed ? 1 : 0);

    return bits >= 64 || value >> bits == 0;
}

const struct d_type *d_constant_type(struct d_session *d, uint64_t value, bool decimal,
                                     bool is_unsigned, unsigned longs)
{
    static const enum d_basic order[] = {D_BASIC_INT,   D_BASIC_UINT,  D_BASIC_LONG,
                                         D_BASIC_ULONG, D_BASIC_LLONG, D_BASIC_ULLONG};

    for (unsigned i = longs * 2; i < sizeof(order) / sizeof(*order); i++) {
        const struct d_type *t = d->basics[order[i]];
        bool allowed = t->is_signed ? !is_unsigned : is_unsigned || !decimal;
        if (allowed && fits(t, value)) {
            return t;
        }
    }
    return d->basics[D_BASIC_ULLONG]; /* a decimal one beyond a signed 64-bit integer */
}

static struct d_node *integer_node(struct d_parse *p, struct d_place place, uint64_t value,
                                   const struct d_type *type)
{
    struct d_node *n = d_node_new(p->session, D_NODE_INT, place);

    n->value = value;
    n->type = type;
    n->is_constant = true;
    return n;
}

static unsigned digit_of(char c)
{
    return isdigit((unsigned char)c) ? (unsigned)(c - '0')
                                     : (unsigned)(tolower((unsigned char)c) - 'a') + 10;
}

/* Digits of a base up to the first character that is none. */
static uint64_t digits(struct d_parse *p, struct d_place place, const char **at, const char *end,
                       unsigned base)
{
    uint64_t value = 0;

    for (; *at < end && (base == 16 ? isxdigit((unsigned char)**at) : isdigit((unsigned char)**at));
         (*at)++) {
        unsigned digit = digit_of(**at);
        if (digit >= base) {
            d_fail(p->session, place, "D_INT_DIGIT", "invalid digit '%c' in octal constant", **at);
        }
        if (__builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, digit, &value)) {
            d_fail(p->session, place, "D_INT_OFLOW",
                   "integer constant cannot be represented in any built-in integral type");
        }
    }
    return value;
}

struct d_node *d_integer_constant(struct d_parse *p, struct d_place place, const char *text,
                                  size_t n)
{
    const char *at = text, *end = text + n;
    unsigned base = 10, longs = 0;
    bool is_unsigned = false;

    if (n > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) {
        base = 16;
        at += 2;
    } else if (at[0] == '0') {
        base = 8;
    }
    uint64_t value = digits(p, place, &at, end, base);
    for (; at < end; at++) {
        is_unsigned |= *at == 'u' || *at == 'U';
        longs += *at == 'l' || *at == 'L';
    }
    return integer_node(p, place, value,
                        d_constant_type(p->session, value, base == 10, is_unsigned, longs));
}

/* ---- escapes -----------------------------------------------------------------------------------
 */

static unsigned octal_escape(const char **at, const char *end)
{
    unsigned value = 0;

    for (unsigned i = 0; i < 3 && *at < end && **at >= '0' && **at <= '7'; i++, (*at)++) {
        value = value * 8 + digit_of(**at);
    }
    return value;
}

static unsigned hex_escape(const char **at, const char *end)
{
    unsigned value = 0;

    while (*at < end && isxdigit((unsigned char)**at)) {
        value = value * 16 + digit_of(*(*at)++);
    }
    return value;
}

/* After a backslash. Returns the characters written: two, if it is no escape and stays. */
static size_t escape(const char **at, const char *end, char *to)
{
    static const char names[] = "abfnrtv\"\\", values[] = "\a\b\f\n\r\t\v\"\\";
    const char *known = **at ? strchr(names, **at) : NULL;

    if (**at >= '0' && **at <= '7') {
        *to = (char)octal_escape(at, end);
        return 1;
    }
    if (**at == 'x' && *at + 1 < end && isxdigit((unsigned char)(*at)[1])) {
        (*at)++;
        *to = (char)hex_escape(at, end);
        return 1;
    }
    if (known) {
        *to = values[known - names];
        (*at)++;
        return 1;
    }
    to[0] = '\\';
    to[1] = *(*at)++;
    return 2;
}

/* The characters meant by a text; `to` has room for as many as the text has. */
static size_t unescape(const char *at, const char *end, char *to)
{
    size_t n = 0;

    while (at < end) {
        if (*at != '\\' || at + 1 == end) {
            to[n++] = *at++;
        } else {
            at++;
            n += escape(&at, end, to + n);
        }
    }
    return n;
}

struct d_node *d_string_constant(struct d_parse *p, struct d_place place, const char *text,
                                 size_t n)
{
    struct d_node *node = d_node_new(p->session, D_NODE_STRING, place);
    char *value = d_alloc(p->session, n + 1);

    unescape(text, text + n, value);
    node->text = value;
    return node;
}

/* The first character is the most significant. */
struct d_node *d_character_constant(struct d_parse *p, struct d_place place, const char *text,
                                    size_t n)
{
    enum { MOST = 8 };

    char *value = d_alloc(p->session, n + 1);
    size_t count = unescape(text, text + n, value);
    uint64_t number = 0;

    if (count == 0) {
        d_fail(p->session, place, "D_CHR_NULL", "empty character constant");
    }
    if (count > MOST) {
        d_fail(p->session, place, "D_CHR_OFLOW", "character constant is too long");
    }
    for (size_t i = 0; i < count; i++) {
        number = number << 8 | (unsigned char)value[i];
    }
    enum d_basic type = count <= 4 ? D_BASIC_INT : D_BASIC_INT64;
    if (count == 4) {
        number = (uint64_t)(int64_t)(int32_t)number;
    }
    const struct d_type *t = d_type_resolve(p->session->basics[type]);
    return integer_node(p, place, number, t);
}
