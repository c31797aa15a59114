/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables of identifiers.
 */
#include "host/dt/front.h"

#include <string.h>

enum { BUCKETS = 256 };

struct dt_identhash {
    struct dt_ident *buckets[BUCKETS];
};

static unsigned bucket_of(const char *name)
{
    uint32_t hash = 2166136261u;

    for (; *name; name++) {
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    }
    return hash % BUCKETS;
}

struct dt_identhash *dt_identhash_new(struct dt_session *d)
{
    return dt_alloc(d, sizeof(struct dt_identhash));
}

struct dt_ident *dt_ident_lookup(const struct dt_identhash *h, const char *name)
{
    struct dt_ident *i = h->buckets[bucket_of(name)];

    while (i && strcmp(i->name, name) != 0) {
        i = i->next;
    }
    return i;
}

void dt_ident_each(const struct dt_identhash *h, void (*fn)(void *arg, const struct dt_ident *),
                   void *arg)
{
    for (unsigned i = 0; i < BUCKETS; i++) {
        for (const struct dt_ident *ident = h->buckets[i]; ident; ident = ident->next) {
            fn(arg, ident);
        }
    }
}

/* A later one of the same name hides the earlier. */
void dt_ident_insert(struct dt_session *d, struct dt_identhash *h, struct dt_ident *i)
{
    struct dt_ident **bucket = &h->buckets[bucket_of(i->name)];

    i->next = *bucket;
    *bucket = i;
    if (h == d->globals) {
        dt_pragma_apply(d, i);
    }
}

struct dt_ident *dt_ident_add(struct dt_session *d, struct dt_identhash *h, const char *name,
                              enum dt_ident_kind kind)
{
    struct dt_ident *i = dt_alloc(d, sizeof(*i));

    i->name = dt_strdup(d, name);
    i->kind = kind;
    i->attributes = (struct dt_attributes_short){DTRACE_STABLE, DTRACE_STABLE, DTRACE_COMMON};
    dt_ident_insert(d, h, i);
    return i;
}
