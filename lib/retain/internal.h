/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the files of lib/retain. */
#ifndef LIB_RETAIN_INTERNAL_H
#define LIB_RETAIN_INTERNAL_H

#include <stddef.h>

#include "lib/retain/retain.h"

#define RETAIN_CONTROL(cpu, event) TRACE_HEADER(cpu, TRACE_STRUCT_S, TRACE_CLASS_CONTROL, event)

/* The CPU whose turn it is. */
static inline struct retain_walk *retain_here(struct retain *retain)
{
    return &retain->walk[retain->cpu];
}

uint32_t retain_crc(const void *data, size_t bytes);
/* Goes on with a CRC; 0 begins. */
uint32_t retain_crc_more(uint32_t crc, const void *data, size_t bytes);
/* How many of these slots can be a buffer of this CPU behind a stamp: whole events only; 0: no
 * buffer. *time: the last one's stamp. */
uint32_t retain_plausible(const struct trace_slot *slots, uint32_t count, uint32_t cpu,
                          uint32_t sequence, uint64_t *time);
/* The buffer i of the CPU as its sequence: its slots (in retain->slots), or 0: it is given up or
 * another one, which sequences[i] then says. */
uint32_t retain_judge(struct retain *retain, uint32_t i, uint64_t *time);
/* What buffer i of the CPU may be: retain->sequences. */
uint32_t retain_candidate(struct retain *retain, uint32_t i);
/* Where buffer i of the CPU is in the window. */
uint32_t retain_offset(const struct retain *retain, uint32_t i);
/* Had the CPU's process taken buffer i, which is whole? */
bool retain_is_taken(struct retain *retain, uint32_t i, uint32_t sequence);
/* A buffer can't be saved; what its seal says was in it, NULL: nothing says that. */
void retain_give_up(struct retain *retain, const struct kymo_retain_mark *mark);
/* The slots of a buffer that tells of the panic, in retain->slots; 0: there is none to tell. */
uint32_t retain_panic_buffer(struct retain *retain, uint32_t sequence, uint64_t *time);
/* A stamp, not before `time`, from which so many follow `last` and each other without a new high
 * word between them. */
uint64_t retain_stamp_behind(uint64_t time, uint64_t last, uint32_t count);
/* Of so many bytes, at least 9; words beyond them are 0. How many slots it has. */
uint32_t retain_put(struct trace_slot *slot, uint32_t what, uint32_t time, const uint32_t *words,
                    uint32_t bytes);
/* The slots of the buffer that says who lived, in retain->slots; 0: nothing does. */
uint32_t retain_names_buffer(struct retain *retain);
/* The slots of the next buffer with notes of D's consumers, likewise; 0: that was all. */
uint32_t retain_notes_buffer(struct retain *retain, uint32_t sequence, uint64_t *time);

/* ---- D's own buffers (d*.c) -------------------------------------------------------- */

#define RETAIN_D_LEAST 12 /* bytes of a record: struct dtrace_record */
#define RETAIN_D_ENTRY 16 /* of an entry's head: struct dtrace_agg_entry */

/* The slots of the next buffer with what D's retained consumers had on this CPU; 0: that
 * was all. */
uint32_t retain_d_buffer(struct retain *retain, uint32_t sequence, uint64_t *time);
/* Bytes of the window, through a part of it that is at hand. 0, -1. */
int retain_chunk_read(struct retain *retain, struct retain_chunk *chunk, uint32_t offset, void *to,
                      uint32_t bytes);
/* So much was summed up for nothing that what is left of a damaged buffer isn't searched. */
bool retain_is_hopeless(const struct retain *retain);
/* The directory's entry d.index, checked, is d.is. False: it isn't there, or can't be believed. */
bool retain_d_open(struct retain *retain);
/* Its records on this CPU, or entries; false: there are none, or what says where can't be. */
bool retain_d_records(struct retain *retain);
bool retain_d_entries(struct retain *retain);
/* The next one: its bytes, and *at, its offset in the window; 0: no more. Behind an entry's head
 * `undo` words from live.undo_first on are to be those of live.undo. */
uint32_t retain_d_record(struct retain *retain, uint32_t *at);
uint32_t retain_d_entry(struct retain *retain, uint32_t *at, bool *undo);
/* A counter of this CPU's. */
uint64_t retain_d_counter(struct retain *retain, uint32_t field);
/* One event of class D in slots of this time: how many. */
uint32_t retain_put_event(struct trace_slot *slot, uint32_t cpu, uint32_t time, uint32_t number,
                          const uint32_t *words, uint32_t bytes);

#endif
