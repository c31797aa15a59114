/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fixed pools of kernel objects: those of an array that were never used, and a free list linked
 * through those that were. Without an array an object is allocated when it is first used: as
 * kernel/base/table.h says. Lock held. A free object's first pointer-sized word is the link;
 * pool_alloc() zeroes the object.
 */
#ifndef KERNEL_BASE_POOL_H
#define KERNEL_BASE_POOL_H

#include <stddef.h>
#include <stdint.h>

struct pool {
    void *free;     /* [k] used before */
    char *next;     /* [k] from here on none was ever used; NULL: there is no array */
    size_t size;    /* [I] of an object */
    unsigned count; /* [I] total of objects */
    unsigned used;  /* [k] */
};

void pool_init(struct pool *pool, void *objects, size_t size, unsigned count);
/* NULL: none left, or no memory for one more. */
void *pool_alloc(struct pool *pool);
void pool_free(struct pool *pool, void *object);

#endif
