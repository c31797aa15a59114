/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffers that no kernel wrote: the reader makes them of other retained data, in retain->slots.
 * Names, notes and the panic are in made.c, data of D's retained consumers in d_events.c.
 */
#ifndef LIB_RETAIN_MADE_H
#define LIB_RETAIN_MADE_H

#include "lib/retain/retain.h"

/* Each returns the slots of the buffer; 0: there is none, or no more. `sequence` is the buffer's,
 * *time the last stamp before it, then its own last one. */
uint32_t retain_names_buffer(struct retain *retain); /* of processes and threads, first of all */
uint32_t retain_notes_buffer(struct retain *retain, uint32_t sequence, uint64_t *time);
uint32_t retain_d_buffer(struct retain *retain, uint32_t sequence, uint64_t *time);
uint32_t retain_panic_buffer(struct retain *retain, uint32_t sequence, uint64_t *time);

/* Returns the buffers that all names take, and sets names_time so that their stamps are before
 * first_time; 0: there are no names, or no time is left before it. */
uint32_t retain_names_plan(struct retain *retain);
/* Counts the names for which there was no buffer. */
void retain_names_lost(struct retain *retain);

/* Returns a stamp, not before `time`, from which `count` stamps follow `last` and each other within
 * one high word. */
uint64_t retain_stamp_behind(uint64_t time, uint64_t last, uint32_t count);
/* Writes BUFFER and TIME, the first two slots, with this first stamp. */
void retain_put_head(struct retain *retain, uint32_t sequence, uint64_t stamp);
/* Writes an event, a combine event if it is longer than 8 bytes, as the kernel would; words beyond
 * `bytes` are 0. Returns its slots. */
uint32_t retain_put(struct trace_slot *slot, uint32_t what, uint32_t time, const uint32_t *words,
                    uint32_t bytes);

#endif
