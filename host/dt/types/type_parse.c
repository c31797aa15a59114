/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types from text: "unsigned long", "const struct obj`s *[4]", as the compiler, libraries and other
 * tables write them.
 */
#include "host/dt/types/type_name.h"

#include <ctype.h>
#include <string.h>

enum { NAME_MAX_BYTES = 256 };

static const char *integer_text(unsigned flags)
{
    bool u = flags & DT_SPEC_UNSIGNED;

    switch (flags & DT_SPEC_SIZES) {
    case 0:
        return u ? "unsigned int" : "int";
    case DT_SPEC_SHORT:
        return u ? "unsigned short" : "short";
    case DT_SPEC_LONG:
        return u ? "unsigned long" : "long";
    case DT_SPEC_LONG_LONG:
        return u ? "unsigned long long" : "long long";
    default:
        return NULL;
    }
}

/* "signed int" is int, but keeps its name. */
static const struct dt_type *signed_type(struct dt_session *d, const struct dt_type *plain)
{
    const char *name = dt_sprintf(d, "signed %s", plain->name);
    const struct dt_type *type = dt_type_own(d, DT_TYPE_TYPEDEF, name);

    if (!type) {
        struct dt_type copy = *plain;
        copy.name = name;
        type = dt_type_new(d, &copy);
        dt_type_define(d, name, type);
    }
    return type;
}

const struct dt_type *dt_type_arithmetic(struct dt_session *d, enum dt_base base, unsigned flags)
{
    unsigned sign = flags & (DT_SPEC_SIGNED | DT_SPEC_UNSIGNED), size = flags & DT_SPEC_SIZES;

    if (sign == (DT_SPEC_SIGNED | DT_SPEC_UNSIGNED)) {
        return NULL;
    }
    switch (base) {
    case DT_BASE_NONE:
    case DT_BASE_INT: {
        const char *name = integer_text(flags);
        const struct dt_type *type = name ? dt_type_own(d, DT_TYPE_TYPEDEF, name) : NULL;
        return type && (flags & DT_SPEC_SIGNED) ? signed_type(d, type) : type;
    }
    case DT_BASE_CHAR:
        return size                       ? NULL
               : sign == DT_SPEC_SIGNED   ? d->basics[DT_BASIC_SCHAR]
               : sign == DT_SPEC_UNSIGNED ? d->basics[DT_BASIC_UCHAR]
                                          : d->basics[DT_BASIC_CHAR];
    case DT_BASE_VOID:
        return sign || size ? NULL : d->basics[DT_BASIC_VOID];
    case DT_BASE_FLOAT:
        return sign || size ? NULL : d->basics[DT_BASIC_FLOAT];
    case DT_BASE_DOUBLE:
        return sign || (size & ~DT_SPEC_LONG) ? NULL
               : size                         ? d->basics[DT_BASIC_LDOUBLE]
                                              : d->basics[DT_BASIC_DOUBLE];
    default:
        return NULL;
    }
}

struct words { /* of a text as it is read */
    const char *at;
    char word[NAME_MAX_BYTES];
    unsigned flags, nwords;
    enum dt_base base;
    const struct dt_type *type;
    bool bad;
};

static bool type_parse_next_word(struct words *w)
{
    size_t n = 0;

    while (isspace((unsigned char)*w->at)) {
        w->at++;
    }
    while (isalnum((unsigned char)w->at[n]) || w->at[n] == '_' || w->at[n] == '`') {
        n++;
    }
    if (n == 0 || n >= sizeof(w->word)) {
        return false;
    }
    memcpy(w->word, w->at, n);
    w->word[n] = '\0';
    w->at += n;
    return true;
}

static const struct known_word {
    const char *text;
    unsigned flag;
    enum dt_base base;
    enum dt_type_kind tag;
} known_words[] = {
    {"const", DT_SPEC_CONST, 0, 0},       {"volatile", DT_SPEC_VOLATILE, 0, 0},
    {"restrict", DT_SPEC_RESTRICT, 0, 0}, {"signed", DT_SPEC_SIGNED, 0, 0},
    {"unsigned", DT_SPEC_UNSIGNED, 0, 0}, {"short", DT_SPEC_SHORT, 0, 0},
    {"long", DT_SPEC_LONG, 0, 0},         {"void", 0, DT_BASE_VOID, 0},
    {"char", 0, DT_BASE_CHAR, 0},         {"int", 0, DT_BASE_INT, 0},
    {"float", 0, DT_BASE_FLOAT, 0},       {"double", 0, DT_BASE_DOUBLE, 0},
    {"struct", 0, 0, DT_TYPE_STRUCT},     {"union", 0, 0, DT_TYPE_UNION},
    {"enum", 0, 0, DT_TYPE_ENUM},
};

static const struct known_word *known_word(const char *word)
{
    for (size_t i = 0; i < sizeof(known_words) / sizeof(*known_words); i++) {
        if (strcmp(word, known_words[i].text) == 0) {
            return &known_words[i];
        }
    }
    return NULL;
}

static void take_type(struct dt_session *d, struct words *w, const char *object,
                      enum dt_type_kind space)
{
    const char *own_object;
    const char *name = dt_name_split(d, w->word, &own_object);

    w->bad |=
        w->type || w->base || (w->flags & (DT_SPEC_SIZES | DT_SPEC_SIGNED | DT_SPEC_UNSIGNED));
    w->type = dt_type_find(d, own_object ? own_object : object, space, name);
    w->bad |= !w->type;
}

static void type_parse_take_word(struct dt_session *d, struct words *w, const char *object)
{
    const struct known_word *k = known_word(w->word);

    w->nwords++;
    if (!k) {
        take_type(d, w, object, DT_TYPE_TYPEDEF);
    } else if (k->tag) {
        if (!type_parse_next_word(w)) {
            w->bad = true;
            return;
        }
        take_type(d, w, object, k->tag);
    } else if (k->flag) {
        bool twice = k->flag == DT_SPEC_LONG && (w->flags & DT_SPEC_LONG);
        w->flags = twice ? (w->flags & ~DT_SPEC_LONG) | DT_SPEC_LONG_LONG : w->flags | k->flag;
    } else {
        w->bad |= w->base || w->type;
        w->base = k->base;
    }
}

/* Takes the stars and the sizes of arrays that follow the words. */
static const struct dt_type *type_parse_derive(struct dt_session *d, const char *at,
                                               const struct dt_type *type)
{
    for (; *at; at++) {
        if (*at == '*') {
            type = dt_type_pointer(d, type);
        } else if (*at == '[') {
            unsigned long long count = 0;
            for (at++; isdigit((unsigned char)*at); at++) {
                count = count * 10 + (unsigned)(*at - '0');
            }
            if (*at != ']') {
                return NULL;
            }
            type = dt_type_array(d, type, count);
        } else if (!isspace((unsigned char)*at)) {
            return NULL;
        }
    }
    return type;
}

const struct dt_type *dt_type_qualify(struct dt_session *d, const struct dt_type *type,
                                      unsigned flags)
{
    if (flags & DT_SPEC_CONST) {
        type = dt_type_qualified(d, DT_TYPE_CONST, type);
    }
    if (flags & DT_SPEC_VOLATILE) {
        type = dt_type_qualified(d, DT_TYPE_VOLATILE, type);
    }
    if (flags & DT_SPEC_RESTRICT) {
        type = dt_type_qualified(d, DT_TYPE_RESTRICT, type);
    }
    return type;
}

/* "prog`struct bar" is struct prog`bar. */
static const char *leading_object(struct dt_session *d, const char *name, const char **object)
{
    static const char *const tags[] = {"struct ", "union ", "enum "};
    const char *quote = strchr(name, '`');

    for (size_t i = 0; quote && i < sizeof(tags) / sizeof(*tags); i++) {
        if (strncmp(quote + 1, tags[i], strlen(tags[i])) == 0) {
            *object = dt_strndup(d, name, (size_t)(quote - name));
            return quote + 1;
        }
    }
    return name;
}

const struct dt_type *dt_type_lookup(struct dt_session *d, const char *object, const char *name)
{
    struct words w = {.at = leading_object(d, name, &object)};
    const struct dt_type *type;

    while (!w.bad && type_parse_next_word(&w)) {
        type_parse_take_word(d, &w, object);
    }
    if (w.bad || w.nwords == 0) {
        return NULL;
    }
    type = w.type ? w.type : dt_type_arithmetic(d, w.base, w.flags);
    return type ? type_parse_derive(d, w.at, dt_type_qualify(d, type, w.flags)) : NULL;
}
