/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * D in the kernel: what the files of this folder and the rest of the kernel know of each other. The
 * machine is trace/d; here are its seam (port.c, heap.c), its control (call.c) and the providers.
 */
#ifndef KERNEL_D_D_H
#define KERNEL_D_D_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/d/d.h"

struct cpu;
struct process;
struct thread;

void d_raise_now(const struct cpu *cpu); /* WORK_RAISE; kernel lock held */
void d_sample_now(struct cpu *cpu);      /* WORK_SAMPLE; kernel lock held */
bool d_log_dump(unsigned part);          /* trace/d/log.h */
void d_clean_from_now_on(void);          /* after a consumer was made; kernel lock held */
/* trace/d/log.h */
bool d_log_notes_of(unsigned i, uint32_t *id, const void **bytes, uint32_t *n);
void d_boot_again(void); /* retained memory is free: what BOOT_D wanted of it. Lock held */
/* It was retained memory, and is freed. Lock held. */
bool d_retained_free(void *block);
void kernel_d_init(void);  /* boot, when timers and the heap are there */
void d_boot_program(void); /* its last step: boot.c */

/* Providers: each registers itself and its probes. Boot. */
void d_sites_init(void);
void d_syscall_init(void);
void d_profile_init(void);
void d_fbt_init(void);

/* A provider listens on a trace site, or does no longer; each `true` has its `false`. Lock held. */
void d_site_want(unsigned site, bool on);

/* Bytes of the system's memory that D has, as far as 32 bits go. Lock held. */
uint32_t d_heap_held(void);
/* Is it in the slot of a function's probe? Then how far behind the slot's start, and where the
 * instructions were that it has displaced. */
bool d_fbt_site(uintptr_t ip, uintptr_t *site, unsigned *behind);

/* Attributes of the kernel's providers: all Evolving but for module and function. */
#define D_KERNEL_ATTRIBUTES \
    { \
        .name = {D_EVOLVING, D_PRIVATE, D_PRIVATE, D_EVOLVING, D_EVOLVING}, \
        .data = {D_EVOLVING, D_PRIVATE, D_UNKNOWN, D_EVOLVING, D_EVOLVING}, \
        .class = {D_COMMON, D_UNKNOWN, D_UNKNOWN, D_COMMON, D_COMMON}, \
    }

#endif
