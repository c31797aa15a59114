/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * printf formats. Flags, width and precision may be mixed as D allows: %@5d and %5@d are the same.
 */
#include "host/dt/base/arena.h"
#include "host/dt/printf.h"

#include <ctype.h>
#include <string.h>

enum { NUMBER_MAX = 1000000 };

struct reader {
    const char *at;
    const char *why;
    char undefined; /* the name of a conversion that there is none of */
    bool dot, digits;
    int number;
};

static unsigned flag_of(char c)
{
    switch (c) {
    case '#':
        return DT_CONV_ALT;
    case '-':
        return DT_CONV_LEFT;
    case '+':
        return DT_CONV_PLUS;
    case ' ':
        return DT_CONV_SPACE;
    case '\'':
        return DT_CONV_GROUP;
    case '@':
        return DT_CONV_AGG;
    case '?':
        return DT_CONV_POINTER_WIDTH;
    default:
        return 0;
    }
}

static void take_digit(struct reader *r, struct dt_conversion *c)
{
    char digit = *r->at++;

    if (digit == '0' && !r->dot && !r->digits) {
        c->flags |= DT_CONV_ZERO;
        return;
    }
    r->digits = true;
    r->number = r->number * 10 + (digit - '0');
    if (r->number > NUMBER_MAX) {
        r->why = "has a width or precision that is too large";
    }
}

static void end_number(struct reader *r, struct dt_conversion *c)
{
    if (r->dot && !(c->flags & DT_CONV_DYNPREC)) {
        c->precision = r->number;
    } else if (!r->dot && r->digits) {
        c->width = r->number;
    }
    r->number = 0;
    r->digits = false;
}

/* Everything between % and the conversion's size and name. */
static void take_flags(struct reader *r, struct dt_conversion *c)
{
    while (!r->why) {
        if (isdigit((unsigned char)*r->at)) {
            take_digit(r, c);
        } else if (*r->at == '*') {
            unsigned flag = r->dot ? DT_CONV_DYNPREC : DT_CONV_DYNWIDTH;
            r->at++;
            if (c->flags & flag) {
                r->why = "has more than one '*' specified for the output width or precision";
            }
            c->flags |= flag;
        } else if (*r->at == '.') {
            if (r->dot) {
                r->why = "has more than one '.' specified";
                break;
            }
            r->at++;
            end_number(r, c);
            r->dot = true;
        } else if (flag_of(*r->at)) {
            c->flags |= flag_of(*r->at++);
        } else {
            break;
        }
    }
    end_number(r, c);
}

static void printf_parse_take_name(struct reader *r, struct dt_conversion *c)
{
    static const char known[] = "aAcCdeEfgGiIkopPsSTuxXY";
    size_t n = strspn(r->at, "hlL");

    if (n > 2) {
        r->why = "has an invalid size prefix";
        return;
    }
    memcpy(c->size, r->at, n);
    r->at += n;
    n = *r->at == 'w' && (r->at[1] == 'c' || r->at[1] == 's') ? 2
        : *r->at && strchr(known, *r->at)                     ? 1
                                                              : 0;
    if (n == 0) {
        r->undefined = *r->at;
        r->why = *r->at ? "is undefined" : "is incomplete at the end of the format string";
        return;
    }
    memcpy(c->name, r->at, n);
    r->at += n;
}

/* The text up to the next conversion, %% written as %. */
static void take_text(struct dt_session *d, struct reader *r, struct dt_conversion *c)
{
    const char *end = r->at;
    size_t n = 0;

    while (*end && (*end != '%' || end[1] == '%')) {
        end += *end == '%' ? 2 : 1;
    }
    char *text = dt_alloc(d, (size_t)(end - r->at) + 1);
    while (r->at < end) {
        text[n++] = *r->at;
        r->at += *r->at == '%' ? 2 : 1;
    }
    c->before = text;
    c->before_size = n;
}

struct dt_printf *dt_printf_parse(struct dt_session *d, const char *format, const char **why)
{
    struct dt_printf *f = dt_alloc(d, sizeof(*f));
    struct reader r = {.at = format};
    unsigned most = 1;

    for (; *format; format++) {
        most += *format == '%';
    }
    f->conversions = dt_alloc(d, most * sizeof(*f->conversions));
    while (*r.at && !r.why) {
        struct dt_conversion *c = &f->conversions[f->n++];
        r = (struct reader){.at = r.at};
        c->width = c->precision = -1;
        take_text(d, &r, c);
        if (*r.at) {
            r.at++;
            take_flags(&r, c);
            if (!r.why) {
                printf_parse_take_name(&r, c);
            }
        }
    }
    *why = r.undefined ? dt_sprintf(d, "format conversion #%u (%%%c) %s", f->n, r.undefined, r.why)
           : r.why     ? dt_sprintf(d, "format conversion #%u %s", f->n, r.why)
                       : NULL;
    return r.why ? NULL : f;
}
