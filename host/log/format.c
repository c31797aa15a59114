/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Formats log text: printf() on arguments that lie in words, whose types the program's ELF file
 * says. Every width is bounded, nothing is read outside the words, %n is refused. See log.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "abi/sys/log.h"
#include "host/log/log.h"

enum { WIDTH_MOST = 512, FLAGS_MOST = 8, SPEC_ROOM = 64 };

struct value {
    char type;        /* as in struct kymo_log_site; 0: there is none */
    uint64_t bits;    /* sign-extended of i */
    const char *text; /* NULL: a null pointer */
    size_t length;
    bool cut;
};

struct work {
    const char *types;
    const uint32_t *words;
    unsigned nwords, at;
    char *text;
    size_t n, room;
};

/* A conversion of a format. */
struct spec {
    char flags[FLAGS_MOST + 1];
    int width, precision; /* -1: none */
    int halves;           /* of int: hh 2, h 1 */
    char conversion;
    char words[SPEC_ROOM]; /* as the format has it, for messages */
};

/* ---- the text and the values --------------------------------------------------------- */

static void log_format_text_put(struct work *w, const char *text, size_t length)
{
    size_t room = w->room - 1 - w->n;

    length = length < room ? length : room;
    memcpy(w->text + w->n, text, length);
    w->n += length;
}

static void text_say(struct work *w, const char *what, const struct spec *spec, const char *why)
{
    log_format_text_put(w, what, strlen(what));
    log_format_text_put(w, spec->words, strlen(spec->words));
    log_format_text_put(w, why, strlen(why));
}

/* The next word, 0 after the last one, which *good tells. */
static uint32_t log_format_word_take(struct work *w, bool *good)
{
    *good &= w->at < w->nwords;
    return *good ? w->words[w->at++] : 0;
}

static void string_take(struct work *w, struct value *value, bool *good)
{
    uint32_t word = log_format_word_take(w, good);
    size_t bytes = word & KYMO_LOG_LENGTH;

    if (!*good || bytes > 4 * (size_t)(w->nwords - w->at)) {
        *good = false;
        return;
    }
    value->text = word & KYMO_LOG_NULL ? NULL : (const char *)(w->words + w->at);
    value->length = value->text == NULL ? 0 : strnlen(value->text, bytes);
    value->cut = word & KYMO_LOG_CUT;
    w->at += (unsigned)(bytes + 3) / 4;
}

static struct value value_take(struct work *w)
{
    struct value value = {.type = *w->types};
    bool good = true;

    switch (value.type) {
    case 'i':
        value.bits = (uint64_t)(int64_t)(int32_t)log_format_word_take(w, &good);
        break;
    case 'u':
    case 'p':
        value.bits = log_format_word_take(w, &good);
        break;
    case 'I':
    case 'U':
    case 'P':
    case 'f':
        value.bits = log_format_word_take(w, &good);
        value.bits |= (uint64_t)log_format_word_take(w, &good) << 32;
        break;
    case 's':
        string_take(w, &value, &good);
        break;
    default:
        good = false;
        break;
    }
    if (!good) {
        w->at = w->nwords; /* what follows can't be told either */
        w->types = "";
        return (struct value){0};
    }
    w->types++;
    return value;
}

static bool is_integer(const struct value *value)
{
    return value->type != '\0' && strchr("iuIU", value->type) != NULL;
}

/* ---- a conversion -------------------------------------------------------------------- */

static int log_format_number_parse(struct work *w, const char **at)
{
    int number = 0;

    if (**at == '*') {
        struct value value = value_take(w);
        int64_t given = is_integer(&value) ? (int64_t)value.bits : 0;

        ++*at;
        return given > WIDTH_MOST ? WIDTH_MOST : given < -WIDTH_MOST ? -WIDTH_MOST : (int)given;
    }
    for (; **at >= '0' && **at <= '9'; ++*at) {
        number = number < WIDTH_MOST ? 10 * number + (**at - '0') : number;
    }
    return number < WIDTH_MOST ? number : WIDTH_MOST;
}

/* Parses the text after the %. Returns the first byte after the conversion. */
static const char *spec_parse(struct work *w, const char *at, struct spec *spec)
{
    const char *from = at;
    size_t n = 0;

    *spec = (struct spec){.width = -1, .precision = -1};
    while (*at != '\0' && strchr("-+ #0", *at) != NULL) {
        if (n < FLAGS_MOST && memchr(spec->flags, *at, n) == NULL) {
            spec->flags[n++] = *at;
        }
        at++;
    }
    if (*at == '*' || (*at >= '1' && *at <= '9')) {
        spec->width = log_format_number_parse(w, &at);
        if (spec->width < 0 && n < FLAGS_MOST) {
            spec->flags[n++] = '-';
        }
        spec->width = spec->width < 0 ? -spec->width : spec->width;
    }
    if (*at == '.') {
        at++;
        spec->precision = log_format_number_parse(w, &at);
    }
    while (*at != '\0' && strchr("hljztqL", *at) != NULL) {
        spec->halves += *at == 'h';
        at++;
    }
    spec->conversion = *at;
    n = (size_t)(at - from) + (*at != '\0');
    snprintf(spec->words, sizeof(spec->words), "%%%.*s", n > 32 ? 32 : (int)n, from);
    return *at == '\0' ? at : at + 1;
}

/* The conversion for the C library: with `length` and `conversion` in place of the format's own. */
static const char *spec_text(const struct spec *spec, const char *conversion, char text[SPEC_ROOM])
{
    size_t n = (size_t)snprintf(text, SPEC_ROOM, "%%%s", spec->flags);

    if (spec->width >= 0) {
        n += (size_t)snprintf(text + n, SPEC_ROOM - n, "%d", spec->width);
    }
    if (spec->precision >= 0) {
        n += (size_t)snprintf(text + n, SPEC_ROOM - n, ".%d", spec->precision);
    }
    snprintf(text + n, SPEC_ROOM - n, "%s", conversion);
    return text;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static void integer_put(struct work *w, const struct spec *spec, struct value value)
{
    char text[2 * WIDTH_MOST + 64], format[SPEC_ROOM], conversion[4] = {'l', 'l', spec->conversion};
    bool is_signed = spec->conversion == 'd' || spec->conversion == 'i';
    bool small = value.type == 'i' || value.type == 'u';

    if (is_signed && small) {
        int32_t number = (int32_t)value.bits;

        value.bits = (uint64_t)(int64_t)(spec->halves > 1   ? (int8_t)number
                                         : spec->halves > 0 ? (int16_t)number
                                                            : number);
    } else if (small) {
        value.bits &= spec->halves > 1 ? 0xff : spec->halves > 0 ? 0xffff : 0xffffffff;
    }
    log_format_text_put(w, text,
                        (size_t)snprintf(text, sizeof(text), spec_text(spec, conversion, format),
                                         (unsigned long long)value.bits));
}

static void double_put(struct work *w, const struct spec *spec, const struct value *value)
{
    char text[WIDTH_MOST + 400], format[SPEC_ROOM], conversion[2] = {spec->conversion};
    double number;

    memcpy(&number, &value->bits, sizeof(number));
    log_format_text_put(
        w, text, (size_t)snprintf(text, sizeof(text), spec_text(spec, conversion, format), number));
}

static void log_format_string_put(struct work *w, const struct spec *spec,
                                  const struct value *value)
{
    char text[4 * KYMO_LOG_WORDS + WIDTH_MOST + 1], format[SPEC_ROOM];
    char copy[4 * KYMO_LOG_WORDS + 1] = "(null)";
    struct spec own = *spec;
    size_t length = value->length < sizeof(copy) - 1 ? value->length : sizeof(copy) - 1;

    if (value->text != NULL) {
        memcpy(copy, value->text, length);
        copy[length] = '\0';
    }
    log_format_text_put(w, text,
                        (size_t)snprintf(text, sizeof(text), spec_text(&own, "s", format), copy));
    if (value->cut && (spec->precision < 0 || (size_t)spec->precision > length)) {
        log_format_text_put(w, "...", 3);
    }
}

/* Addresses as the target's C library prints them: 0x12ab. */
static void pointer_put(struct work *w, const struct spec *spec, const struct value *value)
{
    char text[WIDTH_MOST + 64], format[SPEC_ROOM], address[24];
    struct spec own = {.width = spec->width, .precision = -1};

    own.flags[0] = strchr(spec->flags, '-') != NULL ? '-' : '\0';
    snprintf(address, sizeof(address), "0x%" PRIx64, value->bits);
    log_format_text_put(
        w, text, (size_t)snprintf(text, sizeof(text), spec_text(&own, "s", format), address));
}

static void character_put(struct work *w, const struct spec *spec, const struct value *value)
{
    char text[WIDTH_MOST + 64], format[SPEC_ROOM];
    int code = (unsigned char)value->bits;

    log_format_text_put(
        w, text,
        (size_t)snprintf(text, sizeof(text), spec_text(spec, "c", format), code == 0 ? '?' : code));
}

#pragma GCC diagnostic pop

static void conversion_put(struct work *w, const struct spec *spec)
{
    struct value value = {0};

    if (spec->conversion == '\0' || strchr("diouxXcsfFeEgGaAp", spec->conversion) == NULL) {
        text_say(w, "<", spec, " is refused>");
        w->types = ""; /* which argument would be next is unknown */
        return;
    }
    value = value_take(w);
    if (value.type == '\0') {
        text_say(w, "<", spec, ": no value>");
    } else if (spec->conversion == 's' && value.type == 's') {
        log_format_string_put(w, spec, &value);
    } else if (spec->conversion == 'p' && (value.type == 'p' || value.type == 'P')) {
        pointer_put(w, spec, &value);
    } else if (spec->conversion == 'c' && is_integer(&value)) {
        character_put(w, spec, &value);
    } else if (strchr("diouxX", spec->conversion) != NULL && is_integer(&value)) {
        integer_put(w, spec, value);
    } else if (strchr("fFeEgGaA", spec->conversion) != NULL && value.type == 'f') {
        double_put(w, spec, &value);
    } else {
        text_say(w, "<", spec, ": the value is of another type>");
    }
}

static int number_text(char text[24], const struct value *value)
{
    switch (value->type) {
    case 'p':
    case 'P':
        return snprintf(text, 24, "0x%" PRIx64, value->bits);
    case 'u':
    case 'U':
        return snprintf(text, 24, "%" PRIu64, value->bits);
    default:
        return snprintf(text, 24, "%" PRId64, (int64_t)value->bits);
    }
}

/* Returns the end of a piece of the source: the comma that is in no parentheses and no literal, or
 * the NUL. */
static const char *piece_end(const char *at)
{
    unsigned depth = 0;
    char quote = '\0';

    for (; *at != '\0' && (*at != ',' || depth > 0 || quote != '\0'); at++) {
        if (quote != '\0') {
            if (*at == '\\' && at[1] != '\0') {
                at++;
            } else if (*at == quote) {
                quote = '\0';
            }
        } else if (*at == '"' || *at == '\'') {
            quote = *at;
        } else if (*at == '(' || *at == '[' || *at == '{') {
            depth++;
        } else if (depth > 0 && (*at == ')' || *at == ']' || *at == '}')) {
            depth--;
        }
    }
    return at;
}

const char *log_piece_next(const char **at, const char **from)
{
    if (**at == '\0') {
        return NULL;
    }
    const char *begin = *at, *end = piece_end(begin);

    *at = *end == ',' ? end + 1 : end;
    while (begin < end && *begin == ' ') {
        begin++;
    }
    while (end > begin && end[-1] == ' ') {
        end--;
    }
    *from = begin;
    return end;
}

/* A static probe's name and arguments: myapp:::request-start id=17. "__" is "-" in the name. */
static void probe_put(struct work *w, const char *at)
{
    const char *from, *end;
    char text[24];

    for (unsigned n = 0; n < 2 && (end = log_piece_next(&at, &from)) != NULL; n++) {
        log_format_text_put(w, ":::", n > 0 ? 3 : 0);
        for (; from < end; from++) {
            bool dash = n > 0 && from[0] == '_' && from[1] == '_';

            log_format_text_put(w, dash ? "-" : from, 1);
            from += dash;
        }
    }
    while (w->n < w->room - 1 && (end = log_piece_next(&at, &from)) != NULL) {
        struct value value = value_take(w);

        log_format_text_put(w, " ", 1);
        log_format_text_put(w, from, (size_t)(end - from));
        if (value.type == '\0' || strchr("iuIUpP", value.type) == NULL) {
            log_format_text_put(w, ": no value", 10);
        } else {
            log_format_text_put(w, "=", 1);
            log_format_text_put(w, text, (size_t)number_text(text, &value));
        }
    }
}

void log_format(const struct log_site *site, const uint32_t *words, unsigned nwords, char *text,
                size_t room)
{
    static const char *const levels[KYMO_LOG_LEVELS] = {
        "", "critical: ", "error: ", "warning: ", "notice: ", "", "debug: ", "", "",
    };
    struct work w = {
        .types = site->types, .words = words, .nwords = nwords, .text = text, .room = room};
    const char *at = site->format;
    struct spec spec;

    if (site->level < KYMO_LOG_LEVELS) {
        log_format_text_put(&w, levels[site->level], strlen(levels[site->level]));
    }
    if (log_level_is_probe(site->level)) {
        probe_put(&w, at);
        at = "";
    }
    while (*at != '\0' && w.n < room - 1) {
        size_t plain = strcspn(at, "%");

        log_format_text_put(&w, at, plain);
        at += plain;
        if (at[0] == '%' && at[1] == '%') {
            log_format_text_put(&w, "%", 1);
            at += 2;
        } else if (at[0] == '%') {
            at = spec_parse(&w, at + 1, &spec);
            conversion_put(&w, &spec);
        }
    }
    text[w.n] = '\0';
}
