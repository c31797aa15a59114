/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables of processes, threads, channels, connections, timers, pulses and names: their number
 * of entries. A makefile chooses, by -DKERNEL_TABLE_H:
 *   kernel/base/table/fixed.h  CONFIG_<table> entries in arrays, which the linker places
 *   kernel/base/table/ram.h    a number in proportion to the board's RAM, at most CONFIG_<table>,
 *                              in memory that is allocated at boot
 *   kernel/base/table/grown.h  CONFIG_<table> at most; an entry's memory is allocated when it is
 *                              first used, and stays with the table. For boards with little RAM
 *
 *   TABLE_OF(type, name, most)        defines or declares a table
 *   TABLE_ARRAY(type, name, most)     the same for a table that is always one array
 *   TABLE_ENTRIES(THREADS)            the number of its entries
 *   TABLE_MAKE(name, type, entries)   at boot: creates the table, zeroed
 *   TABLE_ADD(name, type, i)          returns entry i, which was never used, zeroed, or NULL
 *   TABLE_AT(name, i)                 returns entry i, which was used before
 *   TABLE_HAS(name, i)                false: entry i was never used. Needs no lock
 *   TABLE_INDEX(name, entry)          the entry's number
 *   TABLE_WITH(name, entries, p)      the number of the entry that p points into, or a number
 *                                     of at least `entries`
 *   TABLE_POOL(name)                  the objects of a struct pool (kernel/base/pool.h): the table,
 *                                     or NULL: it has none, and each object is allocated
 *   TABLE_GROWS                       false: entries never lack memory
 *   table_new_entry(bytes)            returns memory of an entry, zeroed, or NULL. Kernel lock held
 *   table_init(ram, allocate, extend) boot, before all others: sets the sizes from bytes of RAM
 *
 * The quotas take their sizes from this file (kernel/base/quota.c). Ids have room for
 * CONFIG_<table>.
 */
#ifndef KERNEL_BASE_TABLE_H
#define KERNEL_BASE_TABLE_H

#include <stddef.h>

#include "kernel/base/assert.h"
#include "kernel/base/config.h"
#include "kernel/base/quota.h"

/* Returns memory for a table, zeroed; doesn't return if there is none. */
typedef void *table_allocate(size_t bytes);
/* Returns zeroed memory for further entries exactly at this address (NULL: anywhere below
 * CONFIG_PLACED_RAM), or NULL if it isn't free or not below that. */
typedef void *table_extend(void *at, size_t bytes);

#ifndef KERNEL_TABLE_H
#define KERNEL_TABLE_H "kernel/base/table/fixed.h"
#endif
#include KERNEL_TABLE_H

/* Returns an entry that has already been charged to the account. If it is NULL, for lack of memory,
 * releases the charge. */
static inline void *table_charged(void *entry, struct quota *quota, enum kymo_limit kind)
{
    kernel_assert(entry || TABLE_GROWS); /* otherwise the system's account has counted them */
    if (TABLE_GROWS && !entry) {
        quota_release(quota, kind, 1);
    }
    return entry;
}

#endif
