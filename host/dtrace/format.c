/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * printf()'s conversions, as D has them, on recorded values.
 */
#include "host/dtrace/print.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netdb.h>
#include <string.h>
#include <time.h>

/* "%#0-+ '" and the length that every integer is printed with, then the letter. */
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

static bool is_signed(const struct print_value *v)
{
    const struct dt_type *t = v->type ? dt_type_resolve(v->type) : NULL;

    return !t || t->kind == DT_TYPE_ENUM || (t->kind == DT_TYPE_INTEGER && t->is_signed);
}

static void print_integer(const struct printer *p, const struct dt_conversion *c, int width,
                          int precision, const struct print_value *v)
{
    char format[24], letter = c->name[0];
    bool sign = letter == 'i' || (letter == 'd' && is_signed(v));

    if (letter == 'p') {
        letter = 'x';
    } else if (letter == 'd' || letter == 'i') {
        letter = sign ? 'd' : 'u';
    }
    c_format(format, c, "ll", letter);
    long long value =
        sign ? datum_signed(v->data, v->size) : (long long)datum_unsigned(v->data, v->size);
    fprintf(p->out, format, width, precision, value);
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

static void print_string(const struct printer *p, const struct dt_conversion *c, int width,
                         int precision, const struct print_value *v)
{
    size_t n = strnlen((const char *)v->data, v->size);

    if (precision >= 0 && (size_t)precision < n) {
        n = (size_t)precision;
    }
    print_padded(p, c, width, (const char *)v->data, n);
}

/* An enum under %s: the enumerator's name, or the number if none has it. */
static void print_enumerator(const struct printer *p, const struct dt_conversion *c, int width,
                             int precision, const struct print_value *v)
{
    const struct dt_type *t = dt_type_resolve(v->type);
    int64_t value = datum_signed(v->data, v->size);
    char text[256];

    snprintf(text, sizeof(text), "%lld", (long long)value);
    for (unsigned i = 0; i < t->nenumerators; i++) {
        if (t->enumerators[i].value == value) {
            snprintf(text, sizeof(text), "%s", t->enumerators[i].name);
            break;
        }
    }
    size_t n = strlen(text);
    print_padded(p, c, width, text,
                 precision >= 0 && (size_t)precision < n ? (size_t)precision : n);
}

static bool is_enum(const struct print_value *v)
{
    return v->type && dt_type_resolve(v->type)->kind == DT_TYPE_ENUM;
}

/* Writes a character as C would; returns the bytes written. */
static size_t escape(unsigned char ch, char *to)
{
    static const char letters[] = "\a\b\f\n\r\t\v\\\"", names[] = "abfnrtv\\\"";
    const char *found = ch ? strchr(letters, ch) : NULL;

    if (found) {
        to[0] = '\\';
        to[1] = names[found - letters];
        return 2;
    }
    if (isprint(ch)) {
        to[0] = (char)ch;
        return 1;
    }
    return (size_t)sprintf(to, ch ? "\\%03o" : "\\0", ch);
}

static void print_escaped(const struct printer *p, const struct dt_conversion *c, int width,
                          const uint8_t *data, size_t n)
{
    char text[4 * 1024 + 8];
    size_t used = 0;

    for (size_t i = 0; i < n && used + 4 < sizeof(text); i++) {
        used += escape(data[i], text + used);
    }
    print_padded(p, c, width, text, used);
}

static void print_character(const struct printer *p, const struct dt_conversion *c, int width,
                            const struct print_value *v)
{
    char text = (char)datum_unsigned(v->data, v->size);

    if (c->name[0] == 'C') {
        uint8_t byte = (uint8_t)text;
        print_escaped(p, c, width, &byte, 1);
    } else {
        print_padded(p, c, width, &text, 1);
    }
}

static void print_time(const struct printer *p, const struct dt_conversion *c, int width,
                       const struct print_value *v)
{
    time_t seconds = (time_t)(datum_unsigned(v->data, v->size) / 1000000000u);
    struct tm parts;
    char text[80];
    size_t n;

    localtime_r(&seconds, &parts);
    n = strftime(text, sizeof(text), c->name[0] == 'Y' ? "%Y %b %e %T" : "%a, %d %b %Y %T %Z",
                 &parts);
    print_padded(p, c, width, text, n);
}

/* Also for a key made by sym() or usym(). */
static void print_symbol(const struct printer *p, const struct dt_conversion *c, int width,
                         const struct print_value *v)
{
    address_owner owner = c->name[0] == 'A' ? 0 : OF_KERNEL; /* of which process isn't known */
    char text[512];

    symbol_text(p, datum_unsigned(v->data, v->size), owner, text, sizeof(text));
    print_padded(p, c, width, text, strlen(text));
}

static void print_port(const struct printer *p, const struct dt_conversion *c, int width,
                       const struct print_value *v)
{
    unsigned port = (unsigned)datum_unsigned(v->data, v->size) & 0xffff;
    const struct servent *service = getservbyport(htons((uint16_t)port), NULL);
    char text[64];

    snprintf(text, sizeof(text), "%u", port);
    print_padded(p, c, width, service ? service->s_name : text,
                 strlen(service ? service->s_name : text));
}

static void print_float(const struct printer *p, const struct dt_conversion *c, int width,
                        int precision, const struct print_value *v)
{
    char format[24];
    double value = 0;
    float single = 0;

    if (v->size == sizeof(single)) {
        memcpy(&single, v->data, sizeof(single));
        value = (double)single;
    } else if (v->size == sizeof(value)) {
        memcpy(&value, v->data, sizeof(value));
    }
    c_format(format, c, "", c->name[0]);
    fprintf(p->out, format, width, precision, value);
}

/* Keys that are no plain value, whatever the conversion. False: it is one. */
static bool print_place(const struct printer *p, int width, const struct print_value *v)
{
    switch (v->kind) {
    case DTRACE_ACT_STACK:
        print_stack(p, v->data, v->size / 8);
        return true;
    case DTRACE_ACT_USTACK:
    case DTRACE_ACT_JSTACK:
        print_ustack(p, v->data, (uint32_t)v->arg);
        return true;
    case DTRACE_ACT_SYM:
    case DTRACE_ACT_MOD:
    case DTRACE_ACT_USYM:
    case DTRACE_ACT_UMOD:
    case DTRACE_ACT_UADDR:
        print_address(p, v->kind, v->data, width);
        return true;
    default:
        return false;
    }
}

static bool is_text(const struct print_value *v)
{
    const struct dt_type *t = v->type ? dt_type_resolve(v->type) : NULL;

    return t && dt_type_is_string_like(t) && t->kind != DT_TYPE_POINTER;
}

static void print_letter(const struct printer *p, const struct dt_conversion *c, int width,
                         int precision, const struct print_value *v)
{
    switch (c->name[0]) {
    case 's':
    case 'I':
        (is_enum(v) ? print_enumerator : print_string)(p, c, width, precision, v);
        break;
    case 'S':
        print_escaped(p, c, width, v->data, strnlen((const char *)v->data, v->size));
        break;
    case 'c':
    case 'C':
        print_character(p, c, width, v);
        break;
    case 'Y':
    case 'T':
        print_time(p, c, width, v);
        break;
    case 'a':
    case 'A':
        print_symbol(p, c, width, v);
        break;
    case 'P':
        print_port(p, c, width, v);
        break;
    case 'e':
    case 'E':
    case 'f':
    case 'g':
    case 'G':
        print_float(p, c, width, precision, v);
        break;
    default:
        print_integer(p, c, width, precision, v);
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
        precision = p->width_most; /* of a text it only cuts */
    }
    if (c->name[0] == 'w') {
        conversion.name[0] = c->name[1];
        conversion.name[1] = '\0';
    }
    if (print_place(p, conversion.flags & DT_CONV_LEFT ? width : 0, v)) {
        return;
    }
    if (is_text(v) && !strchr("sSI", conversion.name[0])) {
        print_string(p, &conversion, width, precision, v); /* a string key under %d */
        return;
    }
    print_letter(p, &conversion, width, precision, v);
}

static int dynamic(const struct print_value *values, unsigned n, unsigned *next, bool wanted,
                   int otherwise)
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
        int width = dynamic(values, nvalues, &next, c->flags & DT_CONV_DYNWIDTH, c->width);
        int precision = dynamic(values, nvalues, &next, c->flags & DT_CONV_DYNPREC, c->precision);
        if (next < nvalues) {
            print_conversion(p, c, width, precision, &values[next++]);
        }
    }
}
