/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kprintf(): formatted text on the board's console, for reports and panics. Any context; no lock
 * (lines of two CPUs may mix). ktext() and
 * kformat() do the same into memory. Supports %s %c %d %u %x %p %l*
 * %%, a width and 0.
 */
#include <stdarg.h>
#include <stdbool.h>

#include "kernel/arch/panic.h"
#include "kernel/base/console.h"
#include "kernel/base/string.h"

#define DIGITS 24

struct spec {
    unsigned width;
    char pad;
    bool is_long;
};

/* Destination: memory, as far as there is room, or the console if `at` is NULL. */
struct out {
    char *at, *end;
};

static int kprintf_put(char c, struct out *out)
{
    if (!out->at) {
        console_put(c);
    } else if (out->at < out->end) {
        *out->at++ = c;
    }
    return 1;
}

static int kprintf_put_text(const char *s, size_t len, const struct spec *spec, struct out *out)
{
    int n = 0;

    for (size_t pad = len; pad < spec->width; pad++) {
        n += kprintf_put(spec->pad, out);
    }
    for (size_t i = 0; i < len; i++) {
        n += kprintf_put(s[i], out);
    }
    return n;
}

static int kprintf_put_number(unsigned long value, unsigned base, bool negative,
                              const struct spec *spec, struct out *out)
{
    char digits[DIGITS];
    unsigned at = DIGITS;

    do {
        digits[--at] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value);
    if (negative) {
        digits[--at] = '-';
    }
    return kprintf_put_text(digits + at, DIGITS - at, spec, out);
}

static int put_signed(long value, const struct spec *spec, struct out *out)
{
    unsigned long magnitude = value < 0 ? 0ul - (unsigned long)value : (unsigned long)value;

    return kprintf_put_number(magnitude, 10, value < 0, spec, out);
}

static const char *kprintf_parse(const char *fmt, struct spec *spec)
{
    *spec = (struct spec){0, ' ', false};
    if (*fmt == '0') {
        spec->pad = '0';
        fmt++;
    }
    while (*fmt >= '0' && *fmt <= '9') {
        spec->width = spec->width * 10 + (unsigned)(*fmt++ - '0');
    }
    while (*fmt == 'l' || *fmt == 'z') {
        spec->is_long = true;
        fmt++;
    }
    return fmt;
}

static int put_string(const char *s, const struct spec *spec, struct out *out)
{
    s = s ? s : "(null)";
    return kprintf_put_text(s, strlen(s), spec, out);
}

static int kprintf_convert(char kind, const struct spec *spec, va_list *args, struct out *out)
{
    switch (kind) {
    case 's':
        return put_string(va_arg(*args, const char *), spec, out);
    case 'c':
        return kprintf_put((char)va_arg(*args, int), out);
    case 'd':
        return put_signed(spec->is_long ? va_arg(*args, long) : va_arg(*args, int), spec, out);
    case 'u':
    case 'x':
        return kprintf_put_number(spec->is_long ? va_arg(*args, unsigned long)
                                                : va_arg(*args, unsigned int),
                                  kind == 'x' ? 16 : 10, false, spec, out);
    case 'p':
        return kprintf_put('0', out) + kprintf_put('x', out) +
               kprintf_put_number((unsigned long)(uintptr_t)va_arg(*args, void *), 16, false, spec,
                                  out);
    default:
        return kprintf_put(kind, out);
    }
}

static int kprintf_format(struct out *out, const char *fmt, va_list args)
{
    va_list rest;
    int n = 0;

    va_copy(rest, args);
    for (; *fmt; fmt++) {
        struct spec spec;
        if (*fmt != '%') {
            n += kprintf_put(*fmt, out);
            continue;
        }
        fmt = kprintf_parse(fmt + 1, &spec);
        if (!*fmt) {
            break;
        }
        n += kprintf_convert(*fmt, &spec, &rest, out);
    }
    va_end(rest);
    return n;
}

void ktext(char *text, size_t bytes, const char *fmt, va_list args)
{
    struct out out = {text, text + bytes - 1};

    kprintf_format(&out, fmt, args);
    *out.at = '\0';
}

void kformat(char *text, size_t bytes, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    ktext(text, bytes, fmt, args);
    va_end(args);
}

int kprintf(const char *fmt, ...)
{
    struct out out = {NULL, NULL};
    va_list args;

    va_start(args, fmt);
    int n = kprintf_format(&out, fmt, args);
    va_end(args);
    return n;
}
