/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A printf or printa format, parsed: by the compiler to check the arguments (host/dt), by the
 * consumer to print (host/dtrace).
 */
#ifndef HOST_DT_PRINTF_H
#define HOST_DT_PRINTF_H

#include <stdbool.h>
#include <stddef.h>

enum dt_conversion_flags {
    DT_CONV_ALT = 1,             /* # */
    DT_CONV_ZERO = 2,            /* 0 */
    DT_CONV_LEFT = 4,            /* - */
    DT_CONV_PLUS = 8,            /* + */
    DT_CONV_SPACE = 16,          /* blank */
    DT_CONV_GROUP = 32,          /* ' */
    DT_CONV_AGG = 64,            /* @ */
    DT_CONV_DYNWIDTH = 128,      /* * as the width: takes an argument first */
    DT_CONV_DYNPREC = 256,       /* .* as the precision */
    DT_CONV_POINTER_WIDTH = 512, /* ? as the width */
};

struct dt_conversion {
    const char *before; /* text that comes before it, as it is printed; not NUL-terminated */
    size_t before_size;
    unsigned flags;       /* enum dt_conversion_flags */
    int width, precision; /* -1: none given */
    char size[4];         /* h, l, ll, L or "" */
    char name[4];         /* "d", "wc", "ws"; "" at the end: only text */
};

struct dt_printf {
    struct dt_conversion *conversions;
    unsigned n; /* the last one may have no name */
};

struct dt_session;
/* NULL: a syntax error, *why says which. Escapes were already taken out by the lexer. */
struct dt_printf *dt_printf_parse(struct dt_session *, const char *format, const char **why);

#endif
