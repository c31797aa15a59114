/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * printf(): D's conversions, on recorded values. Tested by test/dtrace/rows and
 * test/host/dtrace/command.
 */
#include "host/dtrace/print/print.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netdb.h>
#include <string.h>
#include <time.h>

/* Writes C's conversion: the flags, "*.*", the length (every integer is printed as long long), and
 * the letter. */
static void c_format(char *to, const struct dt_conversion *c, const char *length, char letter)
{
    static const struct {
        unsigned flag;
        char text;
    } flags[] = {{DT_CONV_ALT, '#'},  {DT_CONV_ZERO, '0'},  {DT_CONV_LEFT, '-'},
                 {DT_CONV_PLUS, '+'}, {DT_CONV_SPACE, ' '}, {DT_CONV_GROUP, '\''}};

    *to++ = '%';
    for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
        if (c->flags & flags[i].flag) {
            *to++ = flags[i].text;
        }
    }
    *to++ = '*';
    *to++ = '.';
    *to++ = '*';
    while (*length) {
        *to++ = *length++;
    }
    *to++ = letter;
    *to = '\0';
}

/* Prints an integer or a floating-point number by C's conversion. */
static void dtrace_format_print_number(const struct printer *p, const struct dt_conversion *c,
                                       int width, int precision, const struct print_value *v)
{
    const struct dt_type *t = v->type ? dt_type_resolve(v->type) : NULL;
    bool type_signed =
        !t || t->kind == DT_TYPE_ENUM || (t->kind == DT_TYPE_INTEGER && t->is_signed);
    char format[24], letter = c->name[0];
    bool is_signed = letter == 'i' || (letter == 'd' && type_signed);
    double real = 0;
    float single = 0;

    if (strchr("eEfgG", letter)) {
        if (v->size == sizeof(single)) {
            memcpy(&single, v->data, sizeof(single));
            real = (double)single;
        } else if (v->size == sizeof(real)) {
            memcpy(&real, v->data, sizeof(real));
        }
        c_format(format, c, "", letter);
        fprintf(p->out, format, width, precision, real);
        return;
    }
    if (letter == 'p') {
        letter = 'x';
    } else if (letter == 'd' || letter == 'i') {
        letter = is_signed ? 'd' : 'u';
    }
    c_format(format, c, "ll", letter);
    fprintf(p->out, format, width, precision,
            is_signed ? (long long)datum_signed(v->data, v->size)
                      : (long long)datum_unsigned(v->data, v->size));
}

static void print_padded(const struct printer *p, const struct dt_conversion *c, int width,
                         const char *text, size_t n)
{
    size_t columns = width > 0 ? (size_t)width : 0;
    bool left = c->flags & DT_CONV_LEFT;

    for (size_t i = n; i < columns && !left; i++) {
        putc(' ', p->out);
    }
    fwrite(text, 1, n, p->out);
    for (size_t i = n; i < columns && left; i++) {
        putc(' ', p->out);
    }
}

/* %s, %I: a string, or of an enum the enumerator's name; the number if none has it. */
static void dtrace_format_print_string(const struct printer *p, const struct dt_conversion *c,
                                       int width, int precision, const struct print_value *v)
{
    const struct dt_type *t = v->type ? dt_type_resolve(v->type) : NULL;
    const char *text = (const char *)v->data;
    size_t n = strnlen(text, v->size);
    char number[24];

    if (t && t->kind == DT_TYPE_ENUM) {
        int64_t value = datum_signed(v->data, v->size);
        snprintf(number, sizeof(number), "%lld", (long long)value);
        text = number;
        for (unsigned i = t->nenumerators; i-- > 0;) {
            text = t->enumerators[i].value == value ? t->enumerators[i].name : text;
        }
        n = strlen(text);
    }
    print_padded(p, c, width, text,
                 precision >= 0 && (size_t)precision < n ? (size_t)precision : n);
}

/* %S, %C: each character as C would write it. */
static void print_escaped(const struct printer *p, const struct dt_conversion *c, int width,
                          const uint8_t *data, size_t n)
{
    static const char letters[] = "\a\b\f\n\r\t\v\\\"", names[] = "abfnrtv\\\"";
    char text[4 * 1024 + 8];
    size_t used = 0;

    for (size_t i = 0; i < n && used + 4 < sizeof(text); i++) {
        const char *found = data[i] ? strchr(letters, data[i]) : NULL;
        if (found) {
            text[used++] = '\\';
            text[used++] = names[found - letters];
        } else if (isprint(data[i])) {
            text[used++] = (char)data[i];
        } else {
            used += (size_t)sprintf(text + used, data[i] ? "\\%03o" : "\\0", data[i]);
        }
    }
    print_padded(p, c, width, text, used);
}

/* Conversions that make a text of a number: a character, a time, a symbol (also for a key made by
 * sym() or usym()), a port's service. */
static void print_number_text(const struct printer *p, const struct dt_conversion *c, int width,
                              const struct print_value *v)
{
    uint64_t number = datum_unsigned(v->data, v->size);
    time_t seconds = (time_t)(number / 1000000000u);
    const struct servent *service;
    struct tm parts;
    char text[512];
    size_t n = 1;

    switch (c->name[0]) {
    case 'c':
        text[0] = (char)number;
        break;
    case 'Y':
    case 'T':
        localtime_r(&seconds, &parts);
        n = strftime(text, sizeof(text), c->name[0] == 'Y' ? "%Y %b %e %T" : "%a, %d %b %Y %T %Z",
                     &parts);
        break;
    case 'a':
    case 'A': /* the process is not known */
        symbol_text(p, number, c->name[0] == 'A' ? 0 : OF_KERNEL, text, sizeof(text));
        n = strlen(text);
        break;
    default:
        number &= 0xffff;
        service = getservbyport(htons((uint16_t)number), NULL);
        if (service) {
            snprintf(text, sizeof(text), "%s", service->s_name);
        } else {
            snprintf(text, sizeof(text), "%u", (unsigned)number);
        }
        n = strlen(text);
    }
    print_padded(p, c, width, text, n);
}

/* Prints a plain value. A string key under a conversion for numbers is printed as a string. */
static void print_plain(const struct printer *p, const struct dt_conversion *c, int width,
                        int precision, const struct print_value *v)
{
    const struct dt_type *t = v->type ? dt_type_resolve(v->type) : NULL;
    bool is_string = t && dt_type_is_string_like(t) && t->kind != DT_TYPE_POINTER;
    uint8_t byte;

    switch (is_string && c->name[0] != 'S' ? 's' : c->name[0]) {
    case 's':
    case 'I':
        dtrace_format_print_string(p, c, width, precision, v);
        break;
    case 'S':
        print_escaped(p, c, width, v->data, strnlen((const char *)v->data, v->size));
        break;
    case 'C':
        byte = (uint8_t)datum_unsigned(v->data, v->size);
        print_escaped(p, c, width, &byte, 1);
        break;
    case 'c':
    case 'Y':
    case 'T':
    case 'a':
    case 'A':
    case 'P':
        print_number_text(p, c, width, v);
        break;
    default:
        dtrace_format_print_number(p, c, width, precision, v);
    }
}

void print_conversion(const struct printer *p, const struct dt_conversion *c, int width,
                      int precision, const struct print_value *v)
{
    struct dt_conversion conversion = *c;

    if (c->flags & DT_CONV_POINTER_WIDTH) {
        width = (int)p->pointer_bytes * 2;
    }
    if (width < 0 && c->flags & DT_CONV_DYNWIDTH) {
        conversion.flags |= DT_CONV_LEFT;
        width = width > -p->width_most ? -width : p->width_most;
    }
    width = width < 0 ? 0 : width < p->width_most ? width : p->width_most;
    if (precision > p->width_most && !strchr("sSI", c->name[0])) {
        precision = p->width_most; /* a text is only cut by it */
    }
    if (c->name[0] == 'w') {
        conversion.name[0] = c->name[1];
        conversion.name[1] = '\0';
    }
    /* stacks and symbols, as keys: whatever the conversion */
    if (!print_place(p, v, "", conversion.flags & DT_CONV_LEFT ? width : 0)) {
        print_plain(p, &conversion, width, precision, v);
    }
}

static int dtrace_format_dynamic_width(const struct print_value *values, unsigned n, unsigned *next,
                                       bool wanted, int otherwise)
{
    if (!wanted || *next >= n) {
        return otherwise;
    }
    const struct print_value *v = &values[(*next)++];
    return (int)datum_signed(v->data, v->size);
}

void print_format(const struct printer *p, const struct dt_printf *format,
                  const struct print_value *values, unsigned nvalues)
{
    unsigned next = 0;

    for (unsigned i = 0; i < format->n; i++) {
        const struct dt_conversion *c = &format->conversions[i];
        fwrite(c->before, 1, c->before_size, p->out);
        if (!c->name[0]) {
            continue;
        }
        int width = dtrace_format_dynamic_width(values, nvalues, &next, c->flags & DT_CONV_DYNWIDTH,
                                                c->width);
        int precision = dtrace_format_dynamic_width(values, nvalues, &next,
                                                    c->flags & DT_CONV_DYNPREC, c->precision);
        if (next < nvalues) {
            print_conversion(p, c, width, precision, &values[next++]);
        }
    }
}
