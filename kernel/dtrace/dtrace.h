/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * D in the kernel: the interface between the files of this folder and the rest of the kernel. The
 * machine is trace/dtrace; here are its port (port.c, heap.c), its control (call.c) and the
 * providers.
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

void dtrace_clean_from_now_on(void); /* call after a consumer was made; kernel lock held */

/* retained memory is free: serves BOOT_D's request for it. Lock held */
void dtrace_boot_again(void);
/* Frees the block if it is retained memory; else returns false. Lock held. */
bool dtrace_retained_free(void *block);
void kernel_d_init(void);       /* boot, after timers and the heap */
void dtrace_reasons_find(void); /* a later step: reason.c */
void dtrace_boot_program(void); /* its last step: boot.c */

/* D's area of retained memory: the upper bound of the ring; whether D consumers of that boot are in
 * the directory, which has KYMO_RETAIN_D_MOST entries; claims it for this boot. */
struct kymo_retain_d;
uint32_t dtrace_retained_ceiling(void);
bool dtrace_retained_found(const struct kymo_retain_d *directory, uint32_t boots);
void dtrace_retained_begin(struct kymo_retain_d *directory);
/* Events of the kernel call's trace sites for D: see syscall.c. Called only while such a site is
 * on. */
void dtrace_syscall_entry(const struct thread *self);
void dtrace_syscall_return(const struct thread *self);

/* A process ends: its consumers. Kernel lock held. */
bool dtrace_process_gone(struct process *proc);

/* Providers: each registers itself, and probes that it doesn't create on demand. Boot. */
void dtrace_syscall_init(void);
void dtrace_profile_init(void);
void dtrace_fbt_init(void);

/* Returns the bytes of the system's memory that D uses, as far as 32 bits go. Lock held. */
uint32_t dtrace_heap_held(void);
/* Returns the bytes that D may still take: it holds at most as much as stays free. Lock held. */
size_t dtrace_heap_room(void);
/* Returns a copy of the next probe's name, of up to 256 bytes with its NUL, that lives forever;
 * NULL: no memory for it or for the probe. Lock held. */
const char *dtrace_name_keep(const char *name);
/* Until dtrace_heap_paid(), which returns the bytes, this account pays for what the machine
 * allocates, and has to have room for it. */
struct quota;
void dtrace_heap_pay(struct quota *quota);
size_t dtrace_heap_paid(void);
/* Who pays now, for a consumer that is being made. For debug kernels, besides. */
extern struct dtrace_heap_payer {
    struct quota *quota; /* [k] NULL: nobody */
    size_t paid;         /* [k] bytes */
} dtrace_heap_payer;
/* Returns how many consumers the process pays for, and adds what they take to *bytes. Lock held.
 * Debug kernels: kernel/observe/debug/paid.c. */
unsigned dtrace_paid_by(const struct process *proc, size_t *bytes);
/* Returns whether ip lies in the slot of a function probe; if so, how far behind the slot's start,
 * and the address of the displaced instructions. */
bool dtrace_fbt_site(uintptr_t ip, uintptr_t *site, unsigned *behind);

#endif
