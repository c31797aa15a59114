/* SPDX-License-Identifier: BSD-2-Clause */
/* Retained memory (abi/retain.h, docs/flight.md): the kernel's use of its window. */
#ifndef KERNEL_OBSERVE_RETAIN_H
#define KERNEL_OBSERVE_RETAIN_H

#include <stdbool.h>
#include <stdint.h>

struct kymo_panic;
struct kymo_retain_name;
struct process;
struct thread;

/* Boot, after the system page: reports what was found, or claims the window for this boot. */
void retain_start(void);
/* Returns the location of a panic's record; NULL: none (the window still holds an earlier boot's
 * data, whose crash takes precedence, or the kernel is not yet up). Any context, no lock. */
struct kymo_panic *retain_panic(void);
/* Last step of a panic: makes the record valid and writes everything back to memory. Any context,
 * interrupts masked. */
void retain_seal(void);
/* Keeps the notes of a D consumer that logs beside the ring, if the window belongs to this boot.
 * bytes NULL: replaces earlier notes, so all are written again. Some instructions per byte, 64 KB
 * at most. Lock held. */
void retain_note(uint32_t id, const void *bytes, uint32_t n);
/* Claims the notes' area of the window for this boot. Lock held, or boot. */
void retain_notes_begin(uint8_t *area, uint32_t boots);
/* Records beside the ring, if the window belongs to this boot, that a process was created, loaded
 * or has ended, or that a thread was named or, if it had a name, has ended. Lock held. */
void retain_process(const struct process *proc);
void retain_thread(const struct thread *t);
void retain_thread_ended(struct thread *t);
void retain_process_ended(struct process *proc);
/* As retain_notes_begin(). */
void retain_names_begin(struct kymo_retain_name *table, uint32_t boots);
/* Returns the window for D's area: the part from `floor` on is not the ring's. -EBUSY: it does not
 * belong to this boot. Lock held, or boot. */
int retain_window(uint8_t **window, uint32_t *floor, uint32_t *boots);
/* kernel/dtrace/retained.c: the upper bound of the ring; whether D consumers of that boot are in
 * the window; claims the window for this boot. */
uint32_t dtrace_retained_ceiling(void);
bool dtrace_retained_found(const uint8_t *window, uint32_t boots);
void dtrace_retained_begin(uint8_t *window);
/* TraceEvent(KYMO_TRACE_*RETAINED). Lock held. */
long retain_command(struct thread *self, uint32_t cmd, const uintptr_t *args);

#endif
