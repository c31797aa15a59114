/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types from text: "unsigned long", "const struct obj`s *[4]", as the compiler, libraries and other
 * tables write them.
 */
#include "host/d/type_name.h"

#include <ctype.h>
#include <string.h>

enum { NAME_MAX_BYTES = 256 };

static const char *integer_text(unsigned flags)
{
    bool u = flags & D_SPEC_UNSIGNED;

    switch (flags & D_SPEC_SIZES) {
    case 0:
        return u ? "unsigned int" : "int";
    case D_SPEC_SHORT:
        return u ? "unsigned short" : "short";
    case D_SPEC_LONG:
        return u ? "unsigned long" : "long";
    case D_SPEC_LONG_LONG:
        return u ? "unsigned long long" : "long long";
    default:
        return NULL;
    }
}

/* "signed int" is int, but keeps its name. */
static const struct d_type *signed_type(struct d_session *d, const struct d_type *plain)
{
    const char *name = d_sprintf(d, "signed %s", plain->name);
    const struct d_type *type = d_type_own(d, D_TYPE_TYPEDEF, name);

    if (!type) {
        struct d_type copy = *plain;
        copy.name = name;
        type = d_type_new(d, &copy);
        d_type_define(d, name, type);
    }
    return type;
}

static const struct d_type *integer(struct d_session *d, unsigned flags)
{
    const char *name = integer_text(flags);
    const struct d_type *type = name ? d_type_own(d, D_TYPE_TYPEDEF, name) : NULL;

    return type && (flags & D_SPEC_SIGNED) ? signed_type(d, type) : type;
}

const struct d_type *d_type_arithmetic(struct d_session *d, enum d_base base, unsigned flags)
{
    unsigned sign = flags & (D_SPEC_SIGNED | D_SPEC_UNSIGNED), size = flags & D_SPEC_SIZES;

    if (sign == (D_SPEC_SIGNED | D_SPEC_UNSIGNED)) {
        return NULL;
    }
    switch (base) {
    case D_BASE_NONE:
    case D_BASE_INT:
        return integer(d, flags);
    case D_BASE_CHAR:
        return size                      ? NULL
               : sign == D_SPEC_SIGNED   ? d->basics[D_BASIC_SCHAR]
               : sign == D_SPEC_UNSIGNED ? d->basics[D_BASIC_UCHAR]
                                         : d->basics[D_BASIC_CHAR];
    case D_BASE_VOID:
        return sign || size ? NULL : d->basics[D_BASIC_VOID];
    case D_BASE_FLOAT:
        return sign || size ? NULL : d->basics[D_BASIC_FLOAT];
    case D_BASE_DOUBLE:
        return sign || (size & ~D_SPEC_LONG) ? NULL
               : size                        ? d->basics[D_BASIC_LDOUBLE]
                                             : d->basics[D_BASIC_DOUBLE];
    default:
        return NULL;
    }
}

struct words { /* of a text as it is read */
    const char *at;
    char word[NAME_MAX_BYTES];
    unsigned flags, nwords;
    enum d_base base;
    const struct d_type *type;
    bool bad;
};

static bool next_word(struct words *w)
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
    enum d_base base;
    enum d_type_kind tag;
} known_words[] = {
    {"const", D_SPEC_CONST, 0, 0},       {"volatile", D_SPEC_VOLATILE, 0, 0},
    {"restrict", D_SPEC_RESTRICT, 0, 0}, {"signed", D_SPEC_SIGNED, 0, 0},
    {"unsigned", D_SPEC_UNSIGNED, 0, 0}, {"short", D_SPEC_SHORT, 0, 0},
    {"long", D_SPEC_LONG, 0, 0},         {"void", 0, D_BASE_VOID, 0},
    {"char", 0, D_BASE_CHAR, 0},         {"int", 0, D_BASE_INT, 0},
    {"float", 0, D_BASE_FLOAT, 0},       {"double", 0, D_BASE_DOUBLE, 0},
    {"struct", 0, 0, D_TYPE_STRUCT},     {"union", 0, 0, D_TYPE_UNION},
    {"enum", 0, 0, D_TYPE_ENUM},
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

static void take_type(struct d_session *d, struct words *w, const char *object,
                      enum d_type_kind space)
{
    const char *own_object;
    const char *name = d_name_split(d, w->word, &own_object);

    w->bad |= w->type || w->base || (w->flags & (D_SPEC_SIZES | D_SPEC_SIGNED | D_SPEC_UNSIGNED));
    w->type = d_type_find(d, own_object ? own_object : object, space, name);
    w->bad |= !w->type;
}

static void take_word(struct d_session *d, struct words *w, const char *object)
{
    const struct known_word *k = known_word(w->word);

    w->nwords++;
    if (!k) {
        take_type(d, w, object, D_TYPE_TYPEDEF);
    } else if (k->tag) {
        if (!next_word(w)) {
            w->bad = true;
            return;
        }
        take_type(d, w, object, k->tag);
    } else if (k->flag) {
        bool twice = k->flag == D_SPEC_LONG && (w->flags & D_SPEC_LONG);
        w->flags = twice ? (w->flags & ~D_SPEC_LONG) | D_SPEC_LONG_LONG : w->flags | k->flag;
    } else {
        w->bad |= w->base || w->type;
        w->base = k->base;
    }
}

/* What follows the words: stars, and sizes of arrays. */
static const struct d_type *derive(struct d_session *d, const char *at, const struct d_type *type)
{
    for (; *at; at++) {
        if (*at == '*') {
            type = d_type_pointer(d, type);
        } else if (*at == '[') {
            unsigned long long count = 0;
            for (at++; isdigit((unsigned char)*at); at++) {
                count = count * 10 + (unsigned)(*at - '0');
            }
            if (*at != ']') {
                return NULL;
            }
            type = d_type_array(d, type, count);
        } else if (!isspace((unsigned char)*at)) {
            return NULL;
        }
    }
    return type;
}

const struct d_type *d_type_qualify(struct d_session *d, const struct d_type *type, unsigned flags)
{
    if (flags & D_SPEC_CONST) {
        type = d_type_qualified(d, D_TYPE_CONST, type);
    }
    if (flags & D_SPEC_VOLATILE) {
        type = d_type_qualified(d, D_TYPE_VOLATILE, type);
    }
    if (flags & D_SPEC_RESTRICT) {
        type = d_type_qualified(d, D_TYPE_RESTRICT, type);
    }
    return type;
}

/* "prog`struct bar" is struct prog`bar. */
static const char *leading_object(struct d_session *d, const char *name, const char **object)
{
    static const char *const tags[] = {"struct ", "union ", "enum "};
    const char *quote = strchr(name, '`');

    for (size_t i = 0; quote && i < sizeof(tags) / sizeof(*tags); i++) {
        if (strncmp(quote + 1, tags[i], strlen(tags[i])) == 0) {
            *object = d_strndup(d, name, (size_t)(quote - name));
            return quote + 1;
        }
    }
    return name;
}

const struct d_type *d_type_lookup(struct d_session *d, const char *object, const char *name)
{
    struct words w = {.at = leading_object(d, name, &object)};
    const struct d_type *type;

    while (!w.bad && next_word(&w)) {
        take_word(d, &w, object);
    }
    if (w.bad || w.nwords == 0) {
        return NULL;
    }
    type = w.type ? w.type : d_type_arithmetic(d, w.base, w.flags);
    return type ? derive(d, w.at, d_type_qualify(d, type, w.flags)) : NULL;
}
