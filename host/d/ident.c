/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables of identifiers.
 */
#include "host/d/front.h"

#include <string.h>

enum { BUCKETS = 256 };

struct d_identhash {
    struct d_ident *buckets[BUCKETS];
};

static unsigned bucket_of(const char *name)
{
    uint32_t hash = 2166136261u;

    for (; *name; name++) {
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    }
    return hash % BUCKETS;
}

struct d_identhash *d_identhash_new(struct d_session *d)
{
    return d_alloc(d, sizeof(struct d_identhash));
}

struct d_ident *d_ident_lookup(const struct d_identhash *h, const char *name)
{
    struct d_ident *i = h->buckets[bucket_of(name)];

    while (i && strcmp(i->name, name) != 0) {
        i = i->next;
    }
    return i;
}

void d_ident_each(const struct d_identhash *h, void (*fn)(void *arg, const struct d_ident *),
                  void *arg)
{
    for (unsigned i = 0; i < BUCKETS; i++) {
        for (const struct d_ident *ident = h->buckets[i]; ident; ident = ident->next) {
            fn(arg, ident);
        }
    }
}

/* A later one of the same name hides the earlier. */
void d_ident_insert(struct d_session *d, struct d_identhash *h, struct d_ident *i)
{
    struct d_ident **bucket = &h->buckets[bucket_of(i->name)];

    i->next = *bucket;
    *bucket = i;
    if (h == d->globals) {
        d_pragma_apply(d, i);
    }
}

struct d_ident *d_ident_add(struct d_session *d, struct d_identhash *h, const char *name,
                            enum d_ident_kind kind)
{
    struct d_ident *i = d_alloc(d, sizeof(*i));

    i->name = d_strdup(d, name);
    i->kind = kind;
    i->attributes = (struct d_attributes_short){D_STABLE, D_STABLE, D_COMMON};
    d_ident_insert(d, h, i);
    return i;
}
