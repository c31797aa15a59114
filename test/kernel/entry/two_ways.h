/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A kernel call that is made in two ways from the same state: all memory of the kernel, of its fake
 * CPUs and of the programs must then be the same, but for what `may_differ` names (two_ways.c), and
 * so must be the events. Besides, the window before the lock, in which another CPU does something.
 */
#ifndef TEST_KERNEL_ENTRY_TWO_WAYS_H
#define TEST_KERNEL_ENTRY_TWO_WAYS_H

#include <stdbool.h>
#include <stdint.h>

void ways_begin(void);       /* once */
void ways_keep_before(void); /* the state from which both begin */
void ways_keep_after(void);  /* what the slow way has come to, with its events */
void ways_back(void);        /* to the state before */
/* Fails if the memory is not as the slow way of this call left it. With events off it need not have
 * what is there only for them. */
void ways_compare(unsigned number);
/* Fails if the events since fake_recorded was 0 are not the slow way's. Returns how many. */
unsigned ways_compare_events(void);
/* Before it: those of both ways that are not compared. */
void ways_forget_events(bool (*which)(uint32_t what));
/* Before it: what D has seen with each, for the log has its events after the changes. */
void ways_forget_seen(void);
/* The next time that a CPU takes the lock, the others do this before it has it: while it waits, or
 * when it has not looked at the lock yet. */
void ways_window(bool waits, void (*others)(void));

#endif
