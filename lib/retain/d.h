/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * D's retained consumers: the directory and the records (d.c), the entries of aggregations
 * (d_entries.c); d_events.c makes events of them.
 */
#ifndef LIB_RETAIN_D_H
#define LIB_RETAIN_D_H

#include "lib/retain/retain.h"

#define RETAIN_D_LEAST 12 /* bytes of a record: struct dtrace_record */
#define RETAIN_D_ENTRY 16 /* of an entry's head: struct dtrace_agg_entry */

/* Reads bytes of the window, through a buffered part of it. Returns 0 or -1. */
int retain_chunk_read(struct retain *retain, struct retain_chunk *chunk, uint32_t offset, void *to,
                      uint32_t bytes);
/* Returns true if so many sums failed that the rest of a damaged buffer isn't searched. */
bool retain_is_hopeless(const struct retain *retain);
/* Opens the directory's entry d.index: checked, in d.is. Returns false if it is missing or
 * invalid. */
bool retain_d_open(struct retain *retain);
/* Opens its records on this CPU, or entries; false: there are none, or their description is
 * invalid. */
bool retain_d_records(struct retain *retain);
bool retain_d_entries(struct retain *retain);
/* Returns the bytes of the next one, and *at, its offset in the window; 0: no more. `undo` words
 * after an entry's head, from live.undo_first on, must be replaced by those of live.undo. */
uint32_t retain_d_record(struct retain *retain, uint32_t *at);
uint32_t retain_d_entry(struct retain *retain, uint32_t *at, bool *undo);
/* Returns a counter of this CPU. */
uint64_t retain_d_counter(struct retain *retain, uint32_t field);

#endif
