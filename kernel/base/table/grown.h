/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables whose entries are allocated when they are first used: see kernel/base/table.h. A table is
 * an array of pointers; a pool's table, whose entries have no numbers, needs no array.
 */
#ifndef KERNEL_BASE_TABLE_GROWN_H
#define KERNEL_BASE_TABLE_GROWN_H

#include <stdbool.h>

#define TABLE_OF(type, name, most) type *name[most]
#define TABLE_ARRAY(type, name, most) type name[most]
#define TABLE_ENTRIES(NAME) CONFIG_##NAME
#define TABLE_MAKE(name, type, entries) ((void)(entries))
#define TABLE_GROWS true
#define TABLE_ADD(name, type, i) ((name)[i] = (type *)table_new_entry(sizeof(type)))
#define TABLE_AT(name, i) ((name)[i])
#define TABLE_HAS(name, i) ((name)[i] != NULL)
#define TABLE_INDEX(name, entry) table_index((void **)(name), entry)
#define TABLE_WITH(name, entries, p) table_with((void **)(name), entries, sizeof(**(name)), p)
#define TABLE_POOL(name) ((void)(name), NULL)

void table_init(size_t ram, table_allocate *allocate, table_extend *extend);
void *table_new_entry(size_t bytes);
/* Returns the number of an entry; a new entry gets the next number. */
unsigned table_index(void **entries, void *entry);
size_t table_with(void *const *entries, size_t n, size_t bytes, const void *p);

#endif
