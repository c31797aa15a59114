/* SPDX-License-Identifier: BSD-2-Clause */
/* Loading programs of the boot image: between spawn.c, spawn_load.c and the end of a thread. */
#ifndef KERNEL_PROGRAM_SPAWN_H
#define KERNEL_PROGRAM_SPAWN_H

#include "kernel/program/elf.h"
#include "kernel/proc/process.h"

/* Where a loadable segment went. */
struct spawn_segment {
    struct elf_segment elf;
    uintptr_t vaddr; /* as the process sees it */
    uint8_t *kva;    /* as the kernel does */
};
#define SPAWN_SEGMENTS 4

/* Memory that still holds what its last owner left. */
struct spawn_clear {
    uint8_t *at;
    size_t len;
};
#define SPAWN_CLEARS (2 * SPAWN_SEGMENTS + 4)

/* A program being loaded: all that PROC_SPAWN keeps between its steps. */
struct spawn_job {
    struct thread *caller; /* [k] whose PROC_SPAWN it is; NULL: the kernel's own, at boot */
    struct process *child; /* [k] NULL: the job is free */
    struct elf_image elf;  /* [k] this and the rest, too */
    struct spawn_segment segments[SPAWN_SEGMENTS];
    struct spawn_clear clears[SPAWN_CLEARS];
    unsigned nsegments, nclears;
    unsigned phase;                             /* SPAWN_PHASE_* */
    unsigned index;                             /* which of the phase's objects is next */
    size_t offset;                              /* how far in it */
    struct _thread_attr attr;                   /* the main thread's */
    uint32_t stack_size, heap_size, block_size; /* wanted */
    uintptr_t stack_low, stack_high;            /* main thread's; the startup block lies above */
    uintptr_t heap_low, heap_high;
    uintptr_t block; /* startup block, as the process sees it */
    uint8_t *block_kva;
};

/* Lays the process's memory out and maps it (spawn_layout.c). 0 or a negative errno; what is mapped
 * goes with the process. */
int spawn_layout(struct spawn_job *job);
/* Where the program's address `link` is in the process; 0 if it is in no segment. */
uintptr_t spawn_placed(const struct spawn_job *job, uint64_t link);
/* Does a piece of the loading: 1 if more is to do, 0 when all is in place, or a negative errno
 * (spawn_load.c). */
int spawn_load_step(struct spawn_job *job);
/* Bytes that the startup block takes, a multiple of 32; and writes it (spawn_block.c). */
uint32_t spawn_block_size(const struct kymo_spawn *spawn);
void spawn_block_write(struct spawn_job *job, const struct kymo_spawn *spawn);
/* Boot: loads "init", with all abilities. 0 or a negative errno. */
int spawn_first(void);
/* The thread ends: what it was spawning goes too. */
void spawn_abandon(struct thread *t);

#endif
