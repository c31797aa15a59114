/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See json.h. Structs become objects, members of anonymous ones the outer's, arrays arrays, those
 * of characters text; pointers and enumerators are numbers.
 */
#include "host/dtrace/json.h"
#include "host/dtrace/print.h"

#include <string.h>

void json_bytes(FILE *out, const char *text, size_t n)
{
    putc('"', out);
    for (size_t i = 0; i < n; i++) {
        unsigned char ch = (unsigned char)text[i];
        if (ch == '"' || ch == '\\') {
            fprintf(out, "\\%c", ch);
        } else if (ch < 0x20 || ch >= 0x7f) {
            fprintf(out, "\\u%04x", ch);
        } else {
            putc(ch, out);
        }
    }
    putc('"', out);
}

void json_text(FILE *out, const char *text)
{
    json_bytes(out, text, strlen(text));
}

void json_hex(FILE *out, const uint8_t *data, uint32_t size)
{
    putc('"', out);
    for (uint32_t i = 0; i < size; i++) {
        fprintf(out, "%02x", data[i]);
    }
    putc('"', out);
}

static void put_number(FILE *out, const struct dt_type *t, uint64_t value)
{
    uint32_t unused = 64 - (t && t->bits && t->bits < 64 ? t->bits : 64);

    if (t && t->kind == DT_TYPE_INTEGER && t->is_signed) {
        fprintf(out, "%lld", (long long)((int64_t)(value << unused) >> unused));
    } else {
        fprintf(out, "%llu", (unsigned long long)value);
    }
}

static void put_members(FILE *out, const struct dt_type *t, const uint8_t *data, bool *any)
{
    for (unsigned i = 0; i < t->nmembers; i++) {
        const struct dt_member *m = &t->members[i];
        const struct dt_type *type = dt_type_resolve(m->type);
        const uint8_t *at = data + m->bit_offset / 8;

        if (!m->name) {
            put_members(out, type, at, any);
            continue;
        }
        fputs(*any ? "," : "", out);
        *any = true;
        json_text(out, m->name);
        putc(':', out);
        if (datum_is_bit_field(type)) {
            put_number(out, type, datum_bit_field(type, data, m->bit_offset));
        } else {
            json_value(out, at, (uint32_t)type->size, type);
        }
    }
}

static void put_array(FILE *out, const struct dt_type *t, const uint8_t *data)
{
    const struct dt_type *element = dt_type_resolve(t->to);

    putc('[', out);
    for (uint64_t i = 0; i < t->count; i++) {
        fputs(i ? "," : "", out);
        json_value(out, data + i * element->size, (uint32_t)element->size, element);
    }
    putc(']', out);
}

static void put_scalar(FILE *out, const uint8_t *data, uint32_t size, const struct dt_type *t)
{
    bool is_signed = !t || t->kind == DT_TYPE_ENUM || (t->kind == DT_TYPE_INTEGER && t->is_signed);

    if (size != 1 && size != 2 && size != 4 && size != 8) {
        json_hex(out, data, size);
    } else if (is_signed) {
        fprintf(out, "%lld", (long long)datum_signed(data, size));
    } else {
        fprintf(out, "%llu", (unsigned long long)datum_unsigned(data, size));
    }
}

void json_value(FILE *out, const uint8_t *data, uint32_t size, const struct dt_type *type)
{
    const struct dt_type *t = type ? dt_type_resolve(type) : NULL;
    bool any = false;

    if (t && dt_type_is_string_like(t) && t->kind != DT_TYPE_POINTER) {
        json_bytes(out, (const char *)data, strnlen((const char *)data, size));
    } else if (t && dt_type_is_struct(t) && t->size == size) {
        putc('{', out);
        put_members(out, t, data, &any);
        putc('}', out);
    } else if (t && t->kind == DT_TYPE_ARRAY && t->size == size) {
        put_array(out, t, data);
    } else {
        put_scalar(out, data, size, t);
    }
}
