/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables that grow with RAM: see kernel/base/table.h. With at least CONFIG_TABLES_RAM bytes of RAM
 * they have CONFIG_<table> entries, with less RAM proportionally fewer, but at least one in
 * TABLE_LEAST.
 */
#ifndef KERNEL_BASE_TABLE_RAM_H
#define KERNEL_BASE_TABLE_RAM_H

#define TABLE_OF(type, name, most) type *name
#define TABLE_ARRAY(type, name, most) type *name
#define TABLE_ENTRIES(NAME) table_entries[KYMO_LIMIT_##NAME]
#define TABLE_MAKE(name, type, entries) ((name) = table_make(sizeof(type) * (size_t)(entries)))
#define TABLE_LEAST 16u
#include "kernel/base/table/flat.h"

extern unsigned table_entries[KYMO_LIMITS]; /* [I] */

void table_init(size_t ram, table_allocate *allocate, table_extend *extend);
void *table_make(size_t bytes);

#endif
