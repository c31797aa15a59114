/* SPDX-License-Identifier: BSD-2-Clause */
/* The entries of a table that is one array: see kernel/base/table.h. fixed.h and ram.h include
 * this. */
#ifndef KERNEL_BASE_TABLE_FLAT_H
#define KERNEL_BASE_TABLE_FLAT_H

#include <stdbool.h>

#define TABLE_GROWS false
#define TABLE_ADD(name, type, i) (&(name)[i])
#define TABLE_AT(name, i) (&(name)[i])
#define TABLE_HAS(name, i) true
#define TABLE_INDEX(name, entry) ((unsigned)((entry) - (name)))
#define TABLE_WITH(name, entries, p) \
    ((size_t)((const char *)(p) - (const char *)(name)) / sizeof(*(name)))
#define TABLE_POOL(name) (name)

static inline void *table_new_entry(size_t bytes)
{
    (void)bytes;
    return NULL;
}

#endif
