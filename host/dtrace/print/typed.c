/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * print(): a value with its type, structs member by member.
 */
#include "host/dtrace/print/print.h"

#include <ctype.h>
#include <string.h>

enum { INDENT = 4, DEPTH_MAX = 32 };

static void print_value(const struct printer *p, const struct dt_type *type, const uint8_t *data,
                        unsigned depth, bool member);

static void typed_print_indent(const struct printer *p, unsigned depth)
{
    fprintf(p->out, "%*s", (int)(depth * INDENT), "");
}

static void print_character(const struct printer *p, unsigned char c)
{
    if (c == 0) {
        fputs("'\\0'", p->out);
    } else if (isprint(c)) {
        fprintf(p->out, "'%c'", c);
    } else {
        fprintf(p->out, "'\\%03o'", c);
    }
}

static void typed_print_number(const struct printer *p, uint64_t value)
{
    if (value == 0) {
        putc('0', p->out);
    } else {
        fprintf(p->out, "0x%llx", (unsigned long long)value);
    }
}

/* A C string in an array: printable text, which may be empty, then a NUL. */
static bool typed_is_text(const uint8_t *data, uint64_t n)
{
    uint64_t i = 0;

    while (i < n && isprint(data[i])) {
        i++;
    }
    return i < n && data[i] == 0;
}

/* Plain char is text even where it has no sign. */
static bool is_character(const struct dt_type *t)
{
    return t->kind == DT_TYPE_INTEGER && t->size == 1 &&
           (t->is_signed || (t->name && strcmp(t->name, "char") == 0));
}

static void print_array(const struct printer *p, const struct dt_type *t, const uint8_t *data,
                        unsigned depth, bool member)
{
    const struct dt_type *element = dt_type_resolve(t->to);
    bool lines = dt_type_is_struct(element);

    if (is_character(element) && typed_is_text(data, t->count)) {
        fprintf(p->out, member ? "[ \"%s\" ]" : "\"%s\"", (const char *)data);
        return;
    }
    fputs("[ ", p->out);
    for (uint64_t i = 0; i < t->count; i++) {
        fputs(i ? ", " : "", p->out);
        if (lines) {
            putc('\n', p->out);
            typed_print_indent(p, depth + 1);
            fprintf(p->out, "%s ", dt_type_text(p->session, t->to, NULL));
        }
        print_value(p, t->to, data + i * element->size, depth + 1, false);
    }
    if (lines) {
        putc('\n', p->out);
        typed_print_indent(p, depth);
        putc(']', p->out);
    } else {
        fputs(" ]", p->out);
    }
}

/* Each member with its declaration, the type before the name: "int [3] a", "char *s". */
static void print_struct(const struct printer *p, const struct dt_type *t, const uint8_t *data,
                         unsigned depth)
{
    fputs("{\n", p->out);
    for (unsigned i = 0; i < t->nmembers; i++) {
        const struct dt_member *m = &t->members[i];
        const struct dt_type *type = dt_type_resolve(m->type);
        bool anonymous = dt_type_is_struct(type) && !type->name && m->type == type;
        bool bits = datum_is_bit_field(type);
        const char *text = anonymous ? (type->kind == DT_TYPE_UNION ? "union" : "struct")
                                     : dt_type_text(p->session, m->type, NULL);
        size_t n = strlen(text);

        typed_print_indent(p, depth + 1);
        fputs(text, p->out);
        if (!m->name) {
            fputs(anonymous ? "  " : " ", p->out);
        } else {
            fprintf(p->out, "%s%s", n && text[n - 1] == '*' ? "" : " ", m->name);
            if (bits) {
                fprintf(p->out, " :%u", type->bits);
            }
            fputs(" = ", p->out);
        }
        if (bits) {
            typed_print_number(p, datum_bit_field(type, data, m->bit_offset));
        } else {
            print_value(p, m->type, data + m->bit_offset / 8, depth + 1, true);
        }
        putc('\n', p->out);
    }
    typed_print_indent(p, depth);
    putc('}', p->out);
}

static void print_value(const struct printer *p, const struct dt_type *type, const uint8_t *data,
                        unsigned depth, bool member)
{
    const struct dt_type *t = dt_type_resolve(type);
    int64_t value;

    if (depth > DEPTH_MAX) {
        fputs("...", p->out);
        return;
    }
    switch (t->kind) {
    case DT_TYPE_STRUCT:
    case DT_TYPE_UNION:
        print_struct(p, t, data, depth);
        break;
    case DT_TYPE_ARRAY:
        print_array(p, t, data, depth, member);
        break;
    case DT_TYPE_STRING:
        if (typed_is_text(data, t->size)) {
            fprintf(p->out, "\"%s\"", (const char *)data);
            break;
        }
        fputs("[ ", p->out); /* without a NUL, or not text: an array of characters */
        for (uint64_t i = 0; i < t->size; i++) {
            fputs(i ? ", " : "", p->out);
            print_character(p, data[i]);
        }
        fputs(" ]", p->out);
        break;
    case DT_TYPE_ENUM:
        value = datum_signed(data, (uint32_t)t->size);
        for (unsigned i = 0; i < t->nenumerators; i++) {
            if (t->enumerators[i].value == value) {
                fputs(t->enumerators[i].name, p->out);
                return;
            }
        }
        fprintf(p->out, "%lld", (long long)value);
        break;
    default:
        if (is_character(t)) {
            print_character(p, *data);
        } else {
            typed_print_number(p, datum_unsigned(data, (uint32_t)t->size));
        }
    }
}

void print_typed(const struct printer *p, const struct dt_type *type, const uint8_t *data)
{
    fprintf(p->out, "%s ", dt_type_text(p->session, type, NULL));
    print_value(p, type, data, 0, false);
    if (!dt_type_is_struct(dt_type_resolve(type))) {
        putc('\n', p->out);
    }
}
