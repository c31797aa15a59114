/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is observed of the kernel: the state dump of the event log, retained memory (abi/retain.h,
 * docs/guide/flight.md), the system page, stacks, the panic.
 */
#ifndef KERNEL_OBSERVE_OBSERVE_H
#define KERNEL_OBSERVE_OBSERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/arch/stack.h"
#include "kernel/proc/proc.h"

/* ---- the event log ----------------------------------------------------------------- */

/* Called when a process ends: ends its ownership of the trace, and a dump's wait. */
bool trace_process_gone(struct process *proc);
/* Returns the bytes of the log's buffers and tables that this process pays for. Lock held. */
size_t trace_paid_by(int32_t pid);
/* Called before a process's slot is reused: its name stays with its events in a ring: see
 * trace_ended(). Lock held. */
void trace_process_forgotten(struct process *proc);

/* ---- retained memory --------------------------------------------------------------- */

/* Called at boot after phys_init(): reserves the window if it is in this RAM. */
void retain_claim_ram(paddr_t ram, size_t bytes);
/* Called at boot after the system page: reports the data that was found, or claims the window for
 * this boot. */
void retain_start(void);
/* Keeps the notes of a D consumer that logs, next to the ring, if the window belongs to this boot.
 * bytes NULL: replaces earlier notes, so all are written again. Takes some instructions per byte,
 * for 64 KB at most, in steps: a part of a long call. Lock held. */
void retain_note(uint32_t id, const void *bytes, uint32_t n);
/* Record next to the ring, if the window belongs to this boot, that a process was created, loaded
 * or has ended, or that a thread was named or, if it had a name, has ended. Lock held. */
void retain_process(const struct process *proc);
void retain_thread(const struct thread *t);
void retain_process_ended(struct process *proc);
/* Called when a thread has ended: keeps its name, if it has one, next to the ring and in it. Lock
 * held. */
void observe_thread_ended(struct thread *t);
/* Returns a CRC-32C, and writes the bytes back from the cache, in steps: a part of a long call. */
uint32_t retain_sum(const void *from, size_t bytes);
/* Returns the window for D's area: the part from `floor` on doesn't belong to the ring. Returns
 * -EBUSY if the window does not belong to this boot. Lock held, or boot. */
int retain_window(uint8_t **window, uint32_t *floor, uint32_t *boots);

/* ---- the system page (abi/syspage.h) ----------------------------------------------- */

/* Builds the page. Called at boot when all CPUs have started. */
void syspage_init(void);
/* Copies the whole page. Returns its length in bytes, or 0 if `most` is too small. In steps
 * (kernel_window()). */
size_t syspage_copy(void *to, size_t most);
/* Returns the page's length in bytes and their CRC-32C. In steps. */
uint32_t syspage_sum(uint32_t *crc);
/* Returns the length of the kernel's GNU build id, and the id. */
size_t syspage_build_id(const uint8_t **id);

/* ---- stacks, by the unwind tables (abi/unwind.h) ----------------------------------- */

/* Each caller found is exact, or the trace ends. Any context, no lock; bounded by `max` frames and
 * by a table's number of entries. See unwind.c. */

/* Called for each return address of a thread's stack, innermost first. */
typedef void (*unwind_found)(uintptr_t ip, void *arg);

/* Reports the callers of a thread's current function, at most max. Precondition: t runs on this CPU
 * or has faulted on it. */
void unwind_user(const struct thread *t, unsigned max, unwind_found found, void *arg);
/* Steps up one frame, beginning with arch_user_frame()'s: f->pc is then the return address. Returns
 * false at the trace's end. */
bool unwind_user_next(const struct thread *t, struct unwind_frame *f);
/* Stores return addresses on this CPU's kernel stack, innermost first: of the frames that end above
 * `above`, at most max. Starts at `from`, or with NULL at the caller. Returns their number. */
unsigned unwind_kernel(const struct unwind_frame *from, uintptr_t above, uintptr_t *to,
                       unsigned max);

/* A copy of the words of a kernel stack from address `at` on. */
struct unwind_copy {
    const uintptr_t *words;
    uintptr_t at;
    unsigned count;
};
/* Like unwind_kernel(), on a copy of a kernel stack. Ends at an interrupt of the kernel, and at a
 * function probe. */
unsigned unwind_kernel_copy(const struct unwind_frame *from, const struct unwind_copy *copy,
                            uintptr_t *to, unsigned max);

/* The kernel's unwind table, made with fbt's tables from the linked kernel (host/unwind). */
extern const uint32_t kernel_unwind[];
extern const unsigned kernel_unwind_words;

/* ---- how much of the kernel's stacks was ever in use (stack.c) --------------------- */

/* Returns the size of CPU n's kernel stack in bytes. */
uint32_t kernel_stack_bytes(unsigned n);
/* Returns the high-water mark of CPU n's kernel stack since boot, in bytes. Any context. */
uint32_t kernel_stack_used(unsigned n);
/* Searches for the mark in steps. *unused: bytes at the stack's low end that are known to be
 * untouched, 0 at first; examines at most `most` further ones, a multiple of 16. Returns true when
 * *unused is final. */
bool kernel_stack_look(unsigned n, uint32_t most, uint32_t *unused);

/* ---- the panic --------------------------------------------------------------------- */

/* Formats the name and the value of this machine's register i, in the order of abi/sys/panic.h. */
void kernel_register_text(char *text, size_t bytes, unsigned i, uintptr_t value);
/* Sets the action at a panic's end: KYMO_PANIC_STOPS (the default) or KYMO_PANIC_RESETS. Returns 0
 * or -EINVAL. Lock held. */
long panic_then(uintptr_t action);

/* ---- debug kernels alone (debug/) -------------------------------------------------- */

/* Checks the kernel's objects at each 64th call (debug/check.h); panics with a description of the
 * breach. Lock held, at the end of a kernel call or an interrupt. */
void kernel_check_sometimes(void);

/* Switches the static probes of all processes if the trace's demand for user events has changed
 * (kernel/observe/sites/). In a long call, kernel lock held; passes windows. */
void user_sites_follow(void);

#endif
