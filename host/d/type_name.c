/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types by name: D's own, then the ELFs'. Tags of structs, unions and enums are separate from other
 * names and from each other.
 */
#include "host/d/type_name.h"

#include <ctype.h>
#include <string.h>

enum { BUCKETS = 256, NAME_MAX_BYTES = 256 };

struct d_type_name {
    enum d_type_kind space; /* STRUCT, UNION, ENUM: tags; TYPEDEF: all other names */
    const char *name;
    struct d_type *type;
    struct d_type_name *next;
};

static unsigned bucket_of(enum d_type_kind space, const char *name)
{
    uint32_t hash = (uint32_t)space;

    for (; *name; name++) {
        hash = hash * 31 + (unsigned char)*name;
    }
    return hash % BUCKETS;
}

static struct d_type_name *find(const struct d_session *d, enum d_type_kind space, const char *name)
{
    struct d_type_name *n = d->type_names ? d->type_names[bucket_of(space, name)] : NULL;

    while (n && (n->space != space || strcmp(n->name, name) != 0)) {
        n = n->next;
    }
    return n;
}

struct d_type *d_type_own(const struct d_session *d, enum d_type_kind space, const char *name)
{
    struct d_type_name *n = find(d, space, name);

    return n ? n->type : NULL;
}

void d_type_enter(struct d_session *d, enum d_type_kind space, const char *name,
                  struct d_type *type)
{
    struct d_type_name *n = find(d, space, name);

    if (!d->type_names) {
        d->type_names = d_alloc(d, BUCKETS * sizeof(struct d_type_name *));
    }
    if (!n) {
        struct d_type_name **bucket = &d->type_names[bucket_of(space, name)];
        n = d_alloc(d, sizeof(*n));
        *n = (struct d_type_name){space, d_strdup(d, name), NULL, *bucket};
        *bucket = n;
    }
    n->type = type;
}

bool d_type_define(struct d_session *d, const char *name, const struct d_type *type)
{
    if (find(d, D_TYPE_TYPEDEF, name)) {
        return false;
    }
    d_type_enter(d, D_TYPE_TYPEDEF, name, (struct d_type *)type);
    return true;
}

/* object`name: D`x and C`x are D's own. */
const struct d_type *d_type_find(struct d_session *d, const char *object, enum d_type_kind space,
                                 const char *name)
{
    const struct d_type *type = NULL;

    if (!object || strcmp(object, "D") == 0 || strcmp(object, "C") == 0) {
        type = d_type_own(d, space, name);
        if (type || object) {
            return type;
        }
    }
    return d_elf_type(d, object, space, name);
}

/* "object`name" taken apart; the name is after the last backquote. */
const char *d_name_split(struct d_session *d, const char *text, const char **object)
{
    const char *quote = strrchr(text, '`');

    *object = quote ? d_strndup(d, text, (size_t)(quote - text)) : NULL;
    return quote ? quote + 1 : text;
}

/* ---- arithmetic types from their words -------------------------------------------------------
 */

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

/* ---- a type's text -----------------------------------------------------------------------------
 */

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
