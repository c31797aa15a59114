/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables whose sizes board.mk sets: see kernel/base/table.h. */
#ifndef KERNEL_BASE_TABLE_FIXED_H
#define KERNEL_BASE_TABLE_FIXED_H

#define TABLE_OF(type, name, most) type name[most]
#define TABLE_ARRAY(type, name, most) type name[most]
#define TABLE_ENTRIES(NAME) CONFIG_##NAME
#define TABLE_MAKE(name, type, entries) ((void)(entries))
#include "kernel/base/table/flat.h"

static inline void table_init(size_t ram, table_allocate *allocate, table_extend *extend)
{
    (void)ram;
    (void)allocate;
    (void)extend;
}

#endif
