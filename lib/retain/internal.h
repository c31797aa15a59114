/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of lib/retain. */
#ifndef LIB_RETAIN_INTERNAL_H
#define LIB_RETAIN_INTERNAL_H

#include <stddef.h>

#include "lib/retain/retain.h"

#define RETAIN_CONTROL(cpu, event) TRACE_HEADER(cpu, TRACE_STRUCT_S, TRACE_CLASS_CONTROL, event)

/* The current CPU. */
static inline struct retain_walk *retain_here(struct retain *retain)
{
    return &retain->walk[retain->cpu];
}

uint32_t retain_crc(const void *data, size_t bytes);
/* Continues a CRC; 0 begins. */
uint32_t retain_crc_more(uint32_t crc, const void *data, size_t bytes);
/* Returns how many of these slots can be a buffer of this CPU after a stamp: whole events only; 0:
 * no buffer. *time: the last slot's stamp. */
uint32_t retain_plausible(const struct trace_slot *slots, uint32_t count, uint32_t cpu,
                          uint32_t sequence, uint64_t *time);
/* Checks buffer i of the CPU as its sequence: returns its slots (in retain->slots), or 0: it was
 * given up or is another one, which sequences[i] then says. */
uint32_t retain_judge(struct retain *retain, uint32_t i, uint64_t *time);
/* Determines the possible sequence of buffer i of the CPU: retain->sequences. */
uint32_t retain_candidate(struct retain *retain, uint32_t i);
/* Returns the offset of buffer i of the CPU in the window. */
uint32_t retain_offset(const struct retain *retain, uint32_t i);
/* Returns whether the CPU's process had taken buffer i, which is complete. */
bool retain_is_taken(struct retain *retain, uint32_t i, uint32_t sequence);
/* Gives up a buffer that can't be saved; its seal tells the lost content, NULL: unknown. */
void retain_give_up(struct retain *retain, const struct kymo_retain_mark *mark);
/* Makes the slots of a buffer that reports the panic, in retain->slots; returns 0 if there was
 * none. */
uint32_t retain_panic_buffer(struct retain *retain, uint32_t sequence, uint64_t *time);
/* Returns a stamp, not before `time`, from which `count` stamps follow `last` and each other within
 * one high word. */
uint64_t retain_stamp_behind(uint64_t time, uint64_t last, uint32_t count);
/* Writes an event of n bytes, at least 9; words beyond them are 0. Returns its slots. */
uint32_t retain_put(struct trace_slot *slot, uint32_t what, uint32_t time, const uint32_t *words,
                    uint32_t bytes);
/* Makes the slots of the buffer with names of processes and threads, in retain->slots; 0: none. */
uint32_t retain_names_buffer(struct retain *retain);
/* Makes the slots of the next buffer with notes of D's consumers, likewise; 0: no more. */
uint32_t retain_notes_buffer(struct retain *retain, uint32_t sequence, uint64_t *time);

/* ---- D's own buffers (d*.c) -------------------------------------------------------- */

#define RETAIN_D_LEAST 12 /* bytes of a record: struct dtrace_record */
#define RETAIN_D_ENTRY 16 /* of an entry's head: struct dtrace_agg_entry */

/* Makes the slots of the next buffer with data of D's retained consumers on this CPU; 0: no
 * more. */
uint32_t retain_d_buffer(struct retain *retain, uint32_t sequence, uint64_t *time);
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
 * behind an entry's head, from live.undo_first on, must be replaced by those of live.undo. */
uint32_t retain_d_record(struct retain *retain, uint32_t *at);
uint32_t retain_d_entry(struct retain *retain, uint32_t *at, bool *undo);
/* Returns a counter of this CPU's. */
uint64_t retain_d_counter(struct retain *retain, uint32_t field);
/* Writes one event of class D with this time; returns its slots. */
uint32_t retain_put_event(struct trace_slot *slot, uint32_t cpu, uint32_t time, uint32_t number,
                          const uint32_t *words, uint32_t bytes);

#endif
