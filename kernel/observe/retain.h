/* SPDX-License-Identifier: BSD-2-Clause */
/* Retained memory (abi/retain.h, docs/flight.md): what the kernel does with its window. */
#ifndef KERNEL_OBSERVE_RETAIN_H
#define KERNEL_OBSERVE_RETAIN_H

#include <stdbool.h>
#include <stdint.h>

struct kymo_panic;
struct kymo_retain_name;
struct process;
struct thread;

/* Boot, after the system page: says what was found, or makes the window this boot's. */
void retain_start(void);
/* Where a panic leaves its record; NULL: nowhere (an earlier boot's data is there still, whose
 * crash is the one that counts, or the kernel is not yet up). Any context, no lock. */
struct kymo_panic *retain_panic(void);
/* Last in a panic: the record counts from now on, and everything is in the memory itself. Any
 * context, interrupts masked. */
void retain_seal(void);
/* A consumer of D that logs has these notes: kept beside the ring, if the window is this boot's.
 * bytes NULL: it had others, so all are put anew.
 * Some instructions a byte, 64 KB at most. Lock held. */
void retain_note(uint32_t id, const void *bytes, uint32_t n);
/* The window is this boot's from now on: the notes' part of it. Lock held, or the boot. */
void retain_notes_begin(uint8_t *area, uint32_t boots);
/* A process was made, loaded or has ended, a thread was named or, if it had a name, has ended: kept
 * beside the ring, if the window is this boot's. Lock held. */
void retain_process(const struct process *proc);
void retain_thread(const struct thread *t);
void retain_thread_ended(struct thread *t);
void retain_process_ended(struct process *proc);
/* As retain_notes_begin(). */
void retain_names_begin(struct kymo_retain_name *table, uint32_t boots);
/* Where D may have its part: the window, from `floor` on free of the ring. -EBUSY: it is not this
 * boot's. Lock held, or the boot. */
int retain_window(uint8_t **window, uint32_t *floor, uint32_t *boots);
/* kernel/dtrace/retained.c: the ring must end below this; D's consumers of that boot are in the
 * window; the window is this boot's from now on. */
uint32_t dtrace_retained_ceiling(void);
bool dtrace_retained_found(const uint8_t *window, uint32_t boots);
void dtrace_retained_begin(uint8_t *window);
/* TraceEvent(KYMO_TRACE_*RETAINED). Lock held. */
long retain_command(struct thread *self, uint32_t cmd, const uintptr_t *args);

#endif
