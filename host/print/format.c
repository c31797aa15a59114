/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The format string of -p. Conversions are printf's, with a flag, a width and a precision; a
 * negative precision keeps the last characters instead of the first, and the last digits of a
 * number. See format.h.
 */
#include <inttypes.h>
#include <stdio.h>

#include "host/print/format.h"

/* Returns the text after the digits, or NULL if the number is too large. */
static const char *print_format_number_parse(const char *at, unsigned *value)
{
    *value = 0;
    while (*at >= '0' && *at <= '9') {
        *value = 10 * *value + (unsigned)(*at++ - '0');
        if (*value > FORMAT_WIDTH_MAX) {
            return NULL;
        }
    }
    return at;
}

/* Returns the text after the conversion whose % stood before `at`; NULL if it is none. The flags +
 * and space are for signed numbers, of which there are none: they have no effect. */
static const char *conversion_parse(struct format_piece *piece, const char *at)
{
    for (; *at != '\0' && strchr("-0#+ ", *at) != NULL; at++) {
        piece->left |= *at == '-';
        piece->zero |= *at == '0';
        piece->alternate |= *at == '#';
    }
    at = print_format_number_parse(at, &piece->width);
    if (at != NULL && *at == '.') {
        piece->precise = true;
        piece->front = at[1] == '-';
        at = print_format_number_parse(at + (piece->front ? 2 : 1), &piece->precision);
    }
    if (at == NULL || *at == '\0' || strchr("cCetZz", *at) == NULL) {
        return NULL;
    }
    piece->what = *at;
    return at + 1;
}

/* Takes the text up to the next %; of %% the second is text. Returns the text after it. */
static const char *text_parse(struct format_piece *piece, const char *at)
{
    piece->text = at;
    piece->len = *at == '%' ? 1 + strcspn(at + 1, "%") : strcspn(at, "%");
    return at + piece->len;
}

int format_parse(struct format *format, const char *text, const char **bad)
{
    const char *at = text;

    format->n = 0;
    while (*at != '\0') {
        struct format_piece *piece = &format->pieces[format->n++];
        const char *from = at;

        *bad = NULL;
        if (format->n == FORMAT_PIECES) {
            return -1;
        }
        memset(piece, 0, sizeof(*piece));
        if (*at != '%') {
            at = text_parse(piece, at);
        } else {
            at = at[1] == '%' ? text_parse(piece, at + 1) : conversion_parse(piece, at + 1);
        }
        *bad = from;
        if (at == NULL) {
            return -1;
        }
    }
    return 0;
}

static void print_format_padded(struct out *out, const struct format_piece *piece, const char *text,
                                size_t len)
{
    size_t pad = len < piece->width ? piece->width - len : 0;

    out_pad(out, piece->left ? 0 : pad);
    out_bytes(out, text, len);
    out_pad(out, piece->left ? pad : 0);
}

static void print_format_string_piece(struct out *out, const struct format_piece *piece,
                                      const char *text)
{
    size_t len = strlen(text);
    size_t cut = piece->precise && len > piece->precision ? len - piece->precision : 0;

    print_format_padded(out, piece, text + (piece->front ? cut : 0), len - cut);
}

/* A precision is the least number of digits, a negative one the most; the flag 0 is without effect
 * beside the first, as in printf. */
static void print_format_number_piece(struct out *out, const struct format_piece *piece,
                                      uint64_t value, bool hexadecimal)
{
    char digits[24];
    char text[FORMAT_WIDTH_MAX + sizeof(digits)];
    size_t n =
        (size_t)snprintf(digits, sizeof(digits), hexadecimal ? "%" PRIx64 : "%" PRIu64, value);
    size_t cut = piece->front && n > piece->precision ? n - piece->precision : 0;
    size_t prefix = piece->alternate && hexadecimal && value != 0 ? 2 : 0;
    size_t least = piece->precise && !piece->front ? piece->precision : 0;
    size_t zeros;

    n -= cut;
    if (piece->zero && !piece->left && (!piece->precise || piece->front)) {
        least = piece->width > prefix ? piece->width - prefix : 0;
    }
    zeros = least > n ? least - n : 0;
    memcpy(text, "0x", prefix);
    memset(text + prefix, '0', zeros);
    memcpy(text + prefix + zeros, digits + cut, n);
    print_format_padded(out, piece, text, prefix + zeros + n);
}

void format_print(struct out *out, const struct format *format, const struct format_event *event)
{
    uint64_t us = (event->ns < 0 ? 0 - (uint64_t)event->ns : (uint64_t)event->ns) / 1000;
    char text[40];

    for (unsigned i = 0; i < format->n; i++) {
        const struct format_piece *piece = &format->pieces[i];

        switch (piece->what) {
        case 'c':
            print_format_number_piece(out, piece, event->cycles, true);
            break;
        case 'C':
            print_format_number_piece(out, piece, event->cpu, false);
            break;
        case 'e':
            print_format_number_piece(out, piece, event->index, false);
            break;
        case 't': /* seconds, milliseconds, microseconds */
            snprintf(text, sizeof(text), "%s%" PRIu64 ".%03" PRIu64 ".%03" PRIu64 "us",
                     event->ns <= -1000 ? "-" : "", us / 1000000, us / 1000 % 1000, us % 1000);
            print_format_string_piece(out, piece, text);
            break;
        case 'Z':
            print_format_string_piece(out, piece, event->class);
            break;
        case 'z':
            print_format_string_piece(out, piece, event->number);
            break;
        default:
            out_bytes(out, piece->text, piece->len);
            break;
        }
    }
}
