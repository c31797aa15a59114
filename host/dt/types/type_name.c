/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types by name: D's own, then the ELFs'. Tags of structs, unions and enums are separate from other
 * names and from each other.
 */
#include "host/dt/types/elf.h"
#include "host/dt/types/type_name.h"

#include <string.h>

enum { BUCKETS = 256 };

struct dt_type_name {
    enum dt_type_kind space; /* STRUCT, UNION, ENUM: tags; TYPEDEF: all other names */
    const char *name;
    struct dt_type *type;
    struct dt_type_name *next;
};

static unsigned type_name_bucket_of(enum dt_type_kind space, const char *name)
{
    uint32_t hash = (uint32_t)space;

    for (; *name; name++) {
        hash = hash * 31 + (unsigned char)*name;
    }
    return hash % BUCKETS;
}

static struct dt_type_name *type_name_find_entry(const struct dt_session *d,
                                                 enum dt_type_kind space, const char *name)
{
    struct dt_type_name *n = d->type_names ? d->type_names[type_name_bucket_of(space, name)] : NULL;

    while (n && (n->space != space || strcmp(n->name, name) != 0)) {
        n = n->next;
    }
    return n;
}

struct dt_type *dt_type_own(const struct dt_session *d, enum dt_type_kind space, const char *name)
{
    struct dt_type_name *n = type_name_find_entry(d, space, name);

    return n ? n->type : NULL;
}

void dt_type_enter(struct dt_session *d, enum dt_type_kind space, const char *name,
                   struct dt_type *type)
{
    struct dt_type_name *n = type_name_find_entry(d, space, name);

    if (!d->type_names) {
        d->type_names = dt_alloc(d, BUCKETS * sizeof(struct dt_type_name *));
    }
    if (!n) {
        struct dt_type_name **bucket = &d->type_names[type_name_bucket_of(space, name)];
        n = dt_alloc(d, sizeof(*n));
        *n = (struct dt_type_name){space, dt_strdup(d, name), NULL, *bucket};
        *bucket = n;
    }
    n->type = type;
}

bool dt_type_define(struct dt_session *d, const char *name, const struct dt_type *type)
{
    if (type_name_find_entry(d, DT_TYPE_TYPEDEF, name)) {
        return false;
    }
    dt_type_enter(d, DT_TYPE_TYPEDEF, name, (struct dt_type *)type);
    return true;
}

/* object`name: D`x and C`x are D's own. */
const struct dt_type *dt_type_find(struct dt_session *d, const char *object,
                                   enum dt_type_kind space, const char *name)
{
    const struct dt_type *type = NULL;

    if (!object || strcmp(object, "D") == 0 || strcmp(object, "C") == 0) {
        type = dt_type_own(d, space, name);
        if (type || object) {
            return type;
        }
    }
    return dt_elf_type(d, object, space, name);
}

/* "object`name" taken apart; the name is after the last backquote. */
const char *dt_name_split(struct dt_session *d, const char *text, const char **object)
{
    const char *quote = strrchr(text, '`');

    *object = quote ? dt_strndup(d, text, (size_t)(quote - text)) : NULL;
    return quote ? quote + 1 : text;
}
