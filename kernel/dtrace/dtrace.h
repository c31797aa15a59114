/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * D in the kernel: the interface between the files of this folder and the rest of the kernel. The
 * machine is in trace/dtrace; this folder has its port (port.c, heap.c), its control (call.c) and
 * the providers.
 */
#ifndef KERNEL_DTRACE_DTRACE_H
#define KERNEL_DTRACE_DTRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/dtrace/dtrace.h"
#include "trace/dtrace/site/sites.h"

struct cpu;
struct process;
struct thread;

void dtrace_raise_now(const struct cpu *cpu); /* WORK_RAISE; kernel lock held */
void dtrace_sample_now(struct cpu *cpu);      /* WORK_SAMPLE; kernel lock held */

/* to be called after a consumer was created; kernel lock held */
void dtrace_clean_from_now_on(void);

/* called when retained memory is free: serves BOOT_D's request for it. Lock held */
void dtrace_boot_again(void);
/* Frees the block if it is retained memory; otherwise returns false. Lock held. */
bool dtrace_retained_free(void *block);
void kernel_d_init(void);       /* boot, after timers and the heap */
void dtrace_reasons_find(void); /* a later step: reason.c */
void dtrace_boot_program(void); /* boot's last step: boot.c */

/* D's area of retained memory: returns the upper bound of the ring; whether D consumers of that
 * boot are in the directory, which has KYMO_RETAIN_D_MOST entries; claims the area for this
 * boot. */
struct kymo_retain_d;
uint32_t dtrace_retained_ceiling(void);
bool dtrace_retained_found(const struct kymo_retain_d *directory, uint32_t boots);
void dtrace_retained_begin(struct kymo_retain_d *directory);
/* Pass the events of the kernel call's trace sites to D: see syscall.c. Called only while such a
 * site is on. */
void dtrace_syscall_entry(const struct thread *self);
void dtrace_syscall_return(const struct thread *self);

/* Called when a process ends: destroys its consumers. Kernel lock held. */
bool dtrace_process_gone(struct process *proc);

/* The providers' initialization at boot: each registers itself, and the probes that it doesn't
 * create on demand. */
void dtrace_syscall_init(void);
void dtrace_profile_init(void);
void dtrace_fbt_init(void);

/* Returns the bytes of the system's memory that D uses, as far as 32 bits go. Lock held. */
uint32_t dtrace_heap_held(void);
/* Returns the bytes that D may still allocate: it holds at most as much as stays free. Lock
 * held. */
size_t dtrace_heap_room(void);
/* Returns a permanent copy of the next probe's name, of up to 256 bytes with its NUL, or NULL if
 * there is no memory for it or for the probe. Lock held. */
const char *dtrace_name_keep(const char *name);
/* Charges this account for the machine's allocations until dtrace_heap_paid(), which returns the
 * bytes. An allocation fails if the account has no room. */
struct quota;
void dtrace_heap_pay(struct quota *quota);
size_t dtrace_heap_paid(void);
/* The present payer, for a consumer that is being created. Public for debug kernels only. */
extern struct dtrace_heap_payer {
    struct quota *quota; /* [k] NULL: none */
    size_t paid;         /* [k] bytes */
} dtrace_heap_payer;
/* Returns the number of consumers that the process pays for, and adds their memory to *bytes. Lock
 * held. For debug kernels: kernel/observe/debug/paid.c. */
unsigned dtrace_paid_by(const struct process *proc, size_t *bytes);
/* Returns whether ip is in the slot of a function probe, and if so, the distance from the slot's
 * start and the address of the displaced instructions. */
bool dtrace_fbt_site(uintptr_t ip, uintptr_t *site, unsigned *offset);

#endif
