/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints a recorded value: integers by size, text if it looks like text, else a dump.
 */
#include "host/dtrace/print/print.h"

#include <ctype.h>
#include <string.h>

uint64_t datum_unsigned(const uint8_t *p, uint32_t size)
{
    uint64_t value = 0;

    memcpy(&value, p, size < 8 ? size : 8);
    return value;
}

int64_t datum_signed(const uint8_t *p, uint32_t size)
{
    unsigned shift = size < 8 ? 64 - 8 * size : 0;

    return (int64_t)(datum_unsigned(p, size) << shift) >> shift;
}

int datum_width(uint32_t size)
{
    return size == 1 ? 3 : size == 2 ? 5 : size == 4 ? 8 : 16;
}

uint64_t datum_bit_field(const struct dt_type *t, const uint8_t *data, uint64_t bit_offset)
{
    uint64_t value = 0;

    for (uint32_t i = 0; i < t->bits; i++) {
        uint64_t bit = bit_offset + i;
        value |= (uint64_t)(data[bit / 8] >> bit % 8 & 1) << i;
    }
    return value;
}

bool datum_is_bit_field(const struct dt_type *t)
{
    return t->kind == DT_TYPE_INTEGER && t->bits && t->bits < t->size * 8;
}

uint32_t datum_text(const struct printer *p, const uint8_t *data, uint32_t size)
{
    uint32_t n = 0, i;

    while (n < size &&
           (isprint(data[n]) || isspace(data[n]) || data[n] == '\b' || data[n] == '\a')) {
        n++;
    }
    for (i = n; i < size && data[i] == 0; i++) {
    }
    return i == size && !p->raw_bytes ? n : 0;
}

void print_padded_text(const struct printer *p, const uint8_t *data, uint32_t size, uint32_t width)
{
    fputs("  ", p->out);
    fwrite(data, 1, size, p->out);
    for (uint32_t n = size; n < width; n++) {
        putc(' ', p->out);
    }
}

void print_narrow_text(const struct printer *p, const uint8_t *data, uint32_t size, int width)
{
    uint32_t text = datum_text(p, data, size);

    if (text) {
        fprintf(p->out, " %*.*s", width, (int)text, (const char *)data);
    } else {
        print_dump(p, data, size);
    }
}

void print_dump(const struct printer *p, const uint8_t *data, uint32_t size)
{
    fprintf(p->out, "\n%11s", "");
    for (unsigned i = 0; i < 16; i++) {
        fprintf(p->out, "  %x", i);
    }
    fputs("  0123456789abcdef\n", p->out);
    for (uint32_t at = 0; at < size; at += 16) {
        uint32_t n = size - at < 16 ? size - at : 16;
        fprintf(p->out, "     %5x:", at);
        for (uint32_t i = 0; i < n; i++) {
            fprintf(p->out, " %02x", data[at + i]);
        }
        fprintf(p->out, "%*s  ", (int)(3 * (16 - n)), "");
        for (uint32_t i = 0; i < n; i++) {
            uint8_t c = data[at + i];
            putc(c >= 0x20 && c <= 0x7e ? c : '.', p->out);
        }
        putc('\n', p->out);
    }
}

/* As dtrace(1M): the type makes no difference. Text is printed as text, also of an array; an empty
 * string is dumped; and text without a NUL is never quiet. */
void print_datum(const struct printer *p, const uint8_t *data, uint32_t size)
{
    uint32_t text = datum_text(p, data, size);

    if (datum_is_number(size) && !p->raw_bytes) {
        long long value =
            size < 4 ? (long long)datum_unsigned(data, size) : datum_signed(data, size);
        if (p->style.quiet) {
            fprintf(p->out, "%lld", value);
        } else {
            fprintf(p->out, " %*lld", datum_width(size), value);
        }
    } else if (text == 0) {
        print_dump(p, data, size);
    } else if (p->style.quiet && text < size) {
        fwrite(data, 1, text, p->out);
    } else {
        print_padded_text(p, data, text, 33);
    }
}
