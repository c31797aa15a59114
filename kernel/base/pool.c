/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fixed pools of kernel objects. Kernel lock held, or boot. Returns NULL when all are in use; never
 * allocates memory. Tested by test/unit_kernel/memory_test.c.
 */
#include "kernel/base/pool.h"

#include "kernel/base/assert.h"
#include "kernel/base/string.h"

void pool_init(struct pool *pool, void *objects, size_t size, unsigned count)
{
    pool->free = NULL;
    pool->size = size;
    pool->count = count;
    pool->used = 0;
    /* From the last to the first, so that objects are allocated in order of address. */
    for (unsigned i = count; i > 0; i--) {
        void **object = (void **)((char *)objects + (i - 1) * size);
        *object = pool->free;
        pool->free = object;
    }
}

void *pool_alloc(struct pool *pool)
{
    void **object = pool->free;

    kernel_assert(!object == (pool->used == pool->count));
    if (!object) {
        return NULL;
    }
    pool->free = *object;
    pool->used++;
    memset(object, 0, pool->size);
    return object;
}

void pool_free(struct pool *pool, void *object)
{
    kernel_assert(pool->used > 0 && object != pool->free);
    *(void **)object = pool->free;
    pool->free = object;
    pool->used--;
}
