/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes a program's relocation table (abi/reloc.h). Tested by test/kernel/program/loader_test.c and
 * test/host/reloc/tables.py. */
#ifndef HOST_RELOC_TABLE_H
#define HOST_RELOC_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* A word that holds an address. */
struct reloc_place {
    uint32_t in, to; /* the linked addresses of its segment, and of the one that it points into */
    uint32_t offset; /* from the beginning of its segment */
};

/* Returns the table, for free(), and its length; NULL: two words overlap, or no memory. Sorts the
 * places. */
uint8_t *reloc_table_make(struct reloc_place *places, size_t n, size_t *len);

#endif
