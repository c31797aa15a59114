/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's buffers in retained memory: which are complete, and which can't be saved. */
#ifndef LIB_RETAIN_JUDGE_H
#define LIB_RETAIN_JUDGE_H

#include "lib/retain/retain.h"

/* Returns how many of these slots can be a buffer of this CPU after a stamp: whole events only; 0:
 * no buffer. *time: the last slot's stamp. */
uint32_t retain_plausible(const struct trace_slot *slots, uint32_t count, uint32_t cpu,
                          uint32_t sequence, uint64_t *time);
/* Checks buffer i of the CPU as its sequence: returns its slots (in retain->slots), or 0: it was
 * given up, or is another one, whose sequence is in sequences[i]. */
uint32_t retain_judge(struct retain *retain, uint32_t i, uint64_t *time);
/* Determines the possible sequence of buffer i of the CPU: retain->sequences. */
uint32_t retain_candidate(struct retain *retain, uint32_t i);
/* Returns the offset of buffer i of the CPU in the window. */
uint32_t retain_offset(const struct retain *retain, uint32_t i);
/* Returns whether the CPU's process had taken buffer i, which is complete. */
bool retain_is_taken(struct retain *retain, uint32_t i, uint32_t sequence);
/* Gives up a buffer that can't be saved; its seal describes the lost content, NULL: unknown. */
void retain_give_up(struct retain *retain, const struct kymo_retain_mark *mark);

#endif
