/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables of processes, threads, channels, connections, timers, pulses and names: how many
 * entries they have. A makefile chooses, by -DKERNEL_TABLE_H:
 *   kernel/base/table/fixed.h  CONFIG_<table> entries in arrays, which the linker places
 *   kernel/base/table/ram.h    as many as the board's RAM is good for, at most CONFIG_<table>, in
 *                              memory that is allocated at boot
 *
 *   TABLE_OF(type, name, most)        defines or declares a table, or a member that is one
 *   TABLE_ENTRIES(THREADS)            the number of its entries
 *   TABLE_MAKE(name, type, entries)   at boot: makes it; all zero
 *   table_init(ram, allocate)         boot, before all others: sets the numbers from bytes of RAM
 *
 * The quotas have their sizes from here (kernel/base/quota.c). Ids hold for CONFIG_<table>.
 */
#ifndef KERNEL_BASE_TABLE_H
#define KERNEL_BASE_TABLE_H

#include <stddef.h>

#include "abi/sys/quota.h"
#include "kernel/base/config.h"

/* Returns memory for a table, zeroed; does not return without. */
typedef void *table_allocate(size_t bytes);

#ifndef KERNEL_TABLE_H
#define KERNEL_TABLE_H "kernel/base/table/fixed.h"
#endif
#include KERNEL_TABLE_H

#endif
