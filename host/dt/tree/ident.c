/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables of identifiers.
 */
#include "host/dt/tree/ident.h"

#include <string.h>

enum { BUCKETS = 256, VARIABLES_MAX = 0xffff };

struct dt_identhash {
    struct dt_ident *buckets[BUCKETS];
};

static unsigned ident_bucket_of(const char *name)
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
    struct dt_ident *i = h->buckets[ident_bucket_of(name)];

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

void dt_ident_give(struct dt_ident *i, const struct dt_pending_pragma *x)
{
    if (x->is_binding) {
        i->version = x->version;
    } else {
        i->attributes = x->attributes;
    }
}

void dt_ident_insert(struct dt_session *d, struct dt_identhash *h, struct dt_ident *i)
{
    struct dt_ident **bucket = &h->buckets[ident_bucket_of(i->name)];

    i->next = *bucket;
    *bucket = i;
    for (struct dt_pending_pragma *x = h == d->globals ? d->pending : NULL; x; x = x->next) {
        if (strcmp(x->name, i->name) == 0) {
            x->used = true;
            dt_ident_give(i, x);
        }
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

uint32_t dt_variable_number(struct dt_session *d, struct dt_location location)
{
    if (d->next_variable > VARIABLES_MAX) {
        dt_fail(d, location, "D_UNKNOWN", "too many variables");
    }
    return d->next_variable++;
}
