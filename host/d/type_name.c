/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types by name: D's own, then the ELFs'. Tags of structs, unions and enums are separate from other
 * names and from each other.
 */
#include "host/d/type_name.h"

#include <string.h>

enum { BUCKETS = 256 };

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
