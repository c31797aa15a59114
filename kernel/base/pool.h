/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fixed pools of kernel objects: a free list linked through objects that were used before, followed
 * by the never used rest of a table (kernel/base/table.h). Where tables grow there is no rest: a
 * new object's memory is allocated. Lock held. A free object's first pointer-sized word is the
 * link; pool_alloc() zeroes the object.
 */
#ifndef KERNEL_BASE_POOL_H
#define KERNEL_BASE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/base/table.h"

struct pool {
    void *free;     /* [k] objects used before, or made ready */
    char *next;     /* [k] objects from here on were never used; NULL where tables grow */
    size_t size;    /* [I] of an object */
    unsigned count; /* [I] total of objects */
    unsigned used;  /* [k] */
};

void pool_init(struct pool *pool, void *objects, size_t size, unsigned count);
/* Returns whether the next pool_alloc() will succeed; allocates memory for an object if needed. */
bool pool_ready(struct pool *pool);
/* Returns an object, or NULL if none is left or there is no memory for one more. */
void *pool_alloc(struct pool *pool);
/* Charges one object to the account and allocates it. Returns NULL, with nothing charged, if the
 * account has no room or there is no memory. */
void *pool_alloc_charged(struct pool *pool, struct quota *quota, enum kymo_limit kind);
void pool_free(struct pool *pool, void *object);

#endif
