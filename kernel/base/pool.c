/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fixed pools of kernel objects. Kernel lock held, or boot. An allocation returns NULL if all
 * objects are in use, or if there is no memory for a new one. Tested by test/kernel
 * (memory_test, table_grown_test).
 */
#include "kernel/base/pool.h"

#include "kernel/base/assert.h"
#include "kernel/base/string.h"

void pool_init(struct pool *pool, void *objects, size_t size, unsigned count)
{
    *pool = (struct pool){.next = objects, .size = size, .count = count};
}

/* Objects that were never used come in order of address. */
bool pool_ready(struct pool *pool)
{
    if (pool->free) {
        return true;
    }
    if (pool->used == pool->count) {
        return false;
    }
    void **object = TABLE_GROWS ? table_new_entry(pool->size) : (void **)pool->next;
    if (!object) {
        return false;
    }
    pool->next += TABLE_GROWS ? 0 : pool->size; /* all objects used so far are in use */
    *object = NULL;
    pool->free = object;
    return true;
}

void *pool_alloc(struct pool *pool)
{
    if (!pool_ready(pool)) {
        kernel_assert(TABLE_GROWS || pool->used == pool->count);
        return NULL;
    }
    void **object = pool->free;
    kernel_assert(pool->used < pool->count);
    pool->free = *object;
    pool->used++;
    memset(object, 0, pool->size);
    return object;
}

void *pool_alloc_charged(struct pool *pool, struct quota *quota, enum kymo_limit kind)
{
    if (!quota_charge(quota, kind, 1)) {
        return NULL;
    }
    return table_charged(pool_alloc(pool), quota, kind);
}

void pool_free(struct pool *pool, void *object)
{
    kernel_assert(pool->used > 0 && object != pool->free);
    *(void **)object = pool->free;
    pool->free = object;
    pool->used--;
}
