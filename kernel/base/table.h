/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables of processes, threads, channels, connections, timers, pulses and names: how many
 * entries they have. A makefile chooses, by -DKERNEL_TABLE_H:
 *   kernel/base/table/fixed.h  CONFIG_<table> entries in arrays, which the linker places
 *   kernel/base/table/ram.h    as many as the board's RAM is good for, at most CONFIG_<table>, in
 *                              memory that is allocated at boot
 *   kernel/base/table/grown.h  CONFIG_<table> at most; an entry's memory is allocated when it is
 *                              first used, and stays the table's. For boards with little RAM
 *
 *   TABLE_OF(type, name, most)        defines or declares a table
 *   TABLE_ARRAY(type, name, most)     the same of something that is always one array
 *   TABLE_ENTRIES(THREADS)            the number of its entries
 *   TABLE_MAKE(name, type, entries)   at boot: makes it; all zero
 *   TABLE_ADD(name, type, i)          entry i, which was never used, all zero; NULL: no memory
 *   TABLE_AT(name, i)                 entry i, which was used before
 *   TABLE_HAS(name, i)                false: it certainly was not. Needs no lock
 *   TABLE_INDEX(name, entry)          the entry's number
 *   TABLE_WITH(name, entries, p)      the number of the entry that p points into; else at least
 *                                     entries
 *   TABLE_POOL(name)                  the objects of a struct pool (kernel/base/pool.h): the table,
 *                                     or NULL: it has none, and each object is allocated
 *   TABLE_GROWS                       false: entries never lack memory
 *   table_new_entry(bytes)            memory of an entry, all zero; NULL: none. Kernel lock held
 *   table_init(ram, allocate, extend) boot, before all others: sets the numbers from bytes of RAM
 *
 * The quotas have their sizes from here (kernel/base/quota.c). Ids hold for CONFIG_<table>.
 */
#ifndef KERNEL_BASE_TABLE_H
#define KERNEL_BASE_TABLE_H

#include <stddef.h>

#include "kernel/base/assert.h"
#include "kernel/base/config.h"
#include "kernel/base/quota.h"

/* Returns memory for a table, zeroed; does not return without. */
typedef void *table_allocate(size_t bytes);
/* Returns zeroed memory for further entries, exactly there (at NULL: anywhere below
 * CONFIG_PLACED_RAM); NULL: it isn't free, or not below that. */
typedef void *table_extend(void *at, size_t bytes);

#ifndef KERNEL_TABLE_H
#define KERNEL_TABLE_H "kernel/base/table/fixed.h"
#endif
#include KERNEL_TABLE_H

/* Returns the entry for which one was charged to the account. Without, which is for lack of memory,
 * gives the charge back. */
static inline void *table_charged(void *entry, struct quota *quota, enum kymo_limit what)
{
    kernel_assert(entry || TABLE_GROWS); /* else the system's account has counted them */
    if (TABLE_GROWS && !entry) {
        quota_release(quota, what, 1);
    }
    return entry;
}

#endif
