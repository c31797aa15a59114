/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A printf or printa format, parsed: by the compiler to check the arguments (host/d), by the
 * consumer to print (host/dtrace).
 */
#ifndef HOST_D_PRINTF_H
#define HOST_D_PRINTF_H

#include <stdbool.h>
#include <stddef.h>

enum d_conversion_flags {
    D_CONV_ALT = 1,             /* # */
    D_CONV_ZERO = 2,            /* 0 */
    D_CONV_LEFT = 4,            /* - */
    D_CONV_PLUS = 8,            /* + */
    D_CONV_SPACE = 16,          /* blank */
    D_CONV_GROUP = 32,          /* ' */
    D_CONV_AGG = 64,            /* @ */
    D_CONV_DYNWIDTH = 128,      /* * as the width: takes an argument first */
    D_CONV_DYNPREC = 256,       /* .* as the precision */
    D_CONV_POINTER_WIDTH = 512, /* ? as the width */
};

struct d_conversion {
    const char *before; /* text that comes before it, as it is printed; not NUL-terminated */
    size_t before_size;
    unsigned flags;       /* enum d_conversion_flags */
    int width, precision; /* -1: none given */
    char size[4];         /* h, l, ll, L or "" */
    char name[4];         /* "d", "wc", "ws"; "" at the end: only text */
};

struct d_printf {
    struct d_conversion *conversions;
    unsigned n; /* the last one may have no name */
};

struct d_session;
/* NULL: a syntax error, *why says which. Escapes were already taken out by the lexer. */
struct d_printf *d_printf_parse(struct d_session *, const char *format, const char **why);

#endif
