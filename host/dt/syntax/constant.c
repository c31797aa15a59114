/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Constants: integers typed as C does, character constants of up to eight characters, strings.
 */
#include "host/dt/syntax/parse.h"

#include <ctype.h>
#include <string.h>

const struct dt_type *dt_constant_type(struct dt_session *d, uint64_t value, bool decimal,
                                       bool is_unsigned, unsigned longs)
{
    static const enum dt_basic order[] = {DT_BASIC_INT,   DT_BASIC_UINT,  DT_BASIC_LONG,
                                          DT_BASIC_ULONG, DT_BASIC_LLONG, DT_BASIC_ULLONG};

    for (unsigned i = longs * 2; i < sizeof(order) / sizeof(*order); i++) {
        const struct dt_type *t = d->basics[order[i]];
        bool allowed = t->is_signed ? !is_unsigned : is_unsigned || !decimal;
        unsigned bits = (unsigned)t->size * 8 - (t->is_signed ? 1 : 0);
        if (allowed && (bits >= 64 || value >> bits == 0)) {
            return t;
        }
    }
    return d->basics[DT_BASIC_ULLONG]; /* a decimal one beyond a signed 64-bit integer */
}

static struct dt_node *integer_node(struct dt_parse *p, struct dt_location location, uint64_t value,
                                    const struct dt_type *type)
{
    struct dt_node *n = dt_node_new(p->session, DT_NODE_INT, location);

    n->value = value;
    n->type = type;
    n->is_constant = true;
    return n;
}

static unsigned constant_digit_of(char c)
{
    return isdigit((unsigned char)c) ? (unsigned)(c - '0')
                                     : (unsigned)(tolower((unsigned char)c) - 'a') + 10;
}

/* Digits of a base up to the first character that is none. */
static uint64_t constant_parse_digits(struct dt_parse *p, struct dt_location location,
                                      const char **at, const char *end, unsigned base)
{
    uint64_t value = 0;

    for (; *at < end && (base == 16 ? isxdigit((unsigned char)**at) : isdigit((unsigned char)**at));
         (*at)++) {
        unsigned digit = constant_digit_of(**at);
        if (digit >= base) {
            dt_fail(p->session, location, "D_INT_DIGIT", "invalid digit '%c' in octal constant",
                    **at);
        }
        if (__builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, digit, &value)) {
            dt_fail(p->session, location, "D_INT_OFLOW",
                    "integer constant cannot be represented in any built-in integral type");
        }
    }
    return value;
}

struct dt_node *dt_integer_constant(struct dt_parse *p, struct dt_location location,
                                    const char *text, size_t n)
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
    uint64_t value = constant_parse_digits(p, location, &at, end, base);
    for (; at < end; at++) {
        is_unsigned |= *at == 'u' || *at == 'U';
        longs += *at == 'l' || *at == 'L';
    }
    return integer_node(p, location, value,
                        dt_constant_type(p->session, value, base == 10, is_unsigned, longs));
}

/* ---- escapes ----------------------------------------------------------------------- */

/* After a backslash. Returns the characters written: two, if it is no escape and stays. */
static size_t constant_parse_escape(const char **at, const char *end, char *to)
{
    static const char names[] = "abfnrtv\"\\", values[] = "\a\b\f\n\r\t\v\"\\";
    const char *known = **at ? strchr(names, **at) : NULL;

    if (**at >= '0' && **at <= '7') {
        unsigned value = 0;
        for (unsigned i = 0; i < 3 && *at < end && **at >= '0' && **at <= '7'; i++, (*at)++) {
            value = value * 8 + constant_digit_of(**at);
        }
        *to = (char)value;
        return 1;
    }
    if (**at == 'x' && *at + 1 < end && isxdigit((unsigned char)(*at)[1])) {
        unsigned value = 0;
        for ((*at)++; *at < end && isxdigit((unsigned char)**at); (*at)++) {
            value = value * 16 + constant_digit_of(**at);
        }
        *to = (char)value;
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
static size_t constant_unescape_text(const char *at, const char *end, char *to)
{
    size_t n = 0;

    while (at < end) {
        if (*at != '\\' || at + 1 == end) {
            to[n++] = *at++;
        } else {
            at++;
            n += constant_parse_escape(&at, end, to + n);
        }
    }
    return n;
}

struct dt_node *dt_string_constant(struct dt_parse *p, struct dt_location location,
                                   const char *text, size_t n)
{
    struct dt_node *node = dt_node_new(p->session, DT_NODE_STRING, location);
    char *value = dt_alloc(p->session, n + 1);

    constant_unescape_text(text, text + n, value);
    node->text = value;
    return node;
}

/* The first character is the most significant. */
struct dt_node *dt_character_constant(struct dt_parse *p, struct dt_location location,
                                      const char *text, size_t n)
{
    enum { MOST = 8 };

    char *value = dt_alloc(p->session, n + 1);
    size_t count = constant_unescape_text(text, text + n, value);
    uint64_t number = 0;

    if (count == 0) {
        dt_fail(p->session, location, "D_CHR_NULL", "empty character constant");
    }
    if (count > MOST) {
        dt_fail(p->session, location, "D_CHR_OFLOW", "character constant is too long");
    }
    for (size_t i = 0; i < count; i++) {
        number = number << 8 | (unsigned char)value[i];
    }
    enum dt_basic type = count <= 4 ? DT_BASIC_INT : DT_BASIC_INT64;
    if (count == 4) {
        number = (uint64_t)(int64_t)(int32_t)number;
    }
    const struct dt_type *t = dt_type_resolve(p->session->basics[type]);
    return integer_node(p, location, number, t);
}
