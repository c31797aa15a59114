/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fixed pools of kernel objects. Kernel lock held, or boot. Returns NULL when all are in use, or
 * when an object is to be allocated and there is no memory. Tested by
 * test/unit_kernel/memory_test.c.
 */
#include "kernel/base/pool.h"

#include "kernel/base/assert.h"
#include "kernel/base/string.h"
#include "kernel/base/table.h"

void pool_init(struct pool *pool, void *objects, size_t size, unsigned count)
{
    *pool = (struct pool){.next = objects, .size = size, .count = count};
}

/* Returns an object, or NULL. Those that were never used come in order of address. */
static void **pool_take(struct pool *pool)
{
    void **object = pool->free;

    if (object) {
        pool->free = *object;
    } else if (TABLE_GROWS && !pool->next && pool->used < pool->count) {
        object = table_new_entry(pool->size);
    } else if (pool->used < pool->count) { /* so all that were ever used are */
        object = (void **)pool->next;
        pool->next += pool->size;
    }
    return object;
}

void *pool_alloc(struct pool *pool)
{
    void **object = pool_take(pool);

    kernel_assert(!object == (pool->used == pool->count) ||
                  (TABLE_GROWS && !object && !pool->next));
    if (!object) {
        return NULL;
    }
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
