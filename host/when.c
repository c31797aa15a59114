/* SPDX-License-Identifier: BSD-2-Clause */
/* See when.h. All arithmetic is exact: a decimal fraction has no binary one. */
#include "host/when.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DIGITS_MOST 18 /* 10^18 * 2^64 fits 128 bits */

typedef unsigned __int128 u128;

static int cycles_parse(const char *text, struct kymo_when *when)
{
    uint64_t value = 0;
    unsigned digits = 0;

    for (; *text != '\0'; text++) {
        const char *hex = "0123456789abcdef";
        const char *at = strchr(hex, tolower((unsigned char)*text));

        digits += digits > 0 || *text != '0';
        if (at == NULL || digits > 16) {
            return -1;
        }
        value = value << 4 | (uint64_t)(at - hex);
    }
    *when = (struct kymo_when){.given = true, .absolute = true, .value = value};
    return 0;
}

/* The power of ten of a unit, -1 if there is no such unit. */
static int unit_scale(const char *unit)
{
    static const char *const units[] = {"s", "ms", "us", "ns"};

    if (*unit == '\0') {
        return 0;
    }
    for (unsigned i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(units[i], unit) == 0) {
            return (int)(3 * i);
        }
    }
    return -1;
}

int kymo_parse_when(const char *text, struct kymo_when *when)
{
    struct kymo_when found = {.given = true};
    bool point = false, any = false;
    unsigned digits = 0;
    int scale;

    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        return text[2] == '\0' ? -1 : cycles_parse(text + 2, when);
    }
    for (text += *text == '+'; isdigit((unsigned char)*text) || (*text == '.' && !point); text++) {
        if (*text == '.') {
            point = true;
            continue;
        }
        any = true;
        digits += digits > 0 || *text != '0';
        found.scale += point;
        if (digits > DIGITS_MOST || found.scale > DIGITS_MOST) {
            return -1;
        }
        found.value = 10 * found.value + (unsigned)(*text - '0');
    }
    scale = unit_scale(text);
    if (!any || scale < 0) {
        return -1;
    }
    found.scale += (unsigned)scale;
    *when = found;
    return 0;
}

uint64_t kymo_when_cycles(const struct kymo_when *when, uint64_t start, uint64_t hz)
{
    u128 unit = 1, cycles;

    if (when->absolute) {
        return when->value;
    }
    for (unsigned i = 0; i < when->scale; i++) {
        unit *= 10;
    }
    cycles = ((u128)when->value * hz + unit - 1) / unit + start;
    return cycles > UINT64_MAX ? UINT64_MAX : (uint64_t)cycles;
}

int64_t kymo_when_ns(uint64_t time, uint64_t start, uint64_t hz)
{
    bool before = time < start;
    u128 scaled = (u128)(before ? start - time : time - start) * 1000000000u;
    u128 ns = (scaled + (before ? hz - 1 : 0)) / hz;

    if (ns > INT64_MAX) {
        return before ? INT64_MIN : INT64_MAX;
    }
    return before ? -(int64_t)ns : (int64_t)ns;
}

const char *kymo_length_text(int64_t ns, char text[32])
{
    if (ns < 1000) {
        snprintf(text, 32, "%" PRId64 " ns", ns);
    } else if (ns < 1000000) {
        snprintf(text, 32, "%.3g us", (double)ns / 1e3);
    } else if (ns < 999500000) {
        snprintf(text, 32, "%.3g ms", (double)ns / 1e6);
    } else {
        snprintf(text, 32, "%.3f s", (double)ns / 1e9);
    }
    return text;
}
