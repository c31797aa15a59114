/* SPDX-License-Identifier: BSD-2-Clause */
/* Loading programs of the boot image: declarations shared by the files spawn*.c. */
#ifndef KERNEL_PROGRAM_SPAWN_H
#define KERNEL_PROGRAM_SPAWN_H

#include "kernel/program/program.h"

/* Location of a loaded segment. */
struct spawn_segment {
    struct elf_segment elf;
    uintptr_t vaddr; /* in the process's address space */
    uint8_t *kva;    /* kernel pointer */
};
#define SPAWN_SEGMENTS 4

/* Memory that still contains its previous owner's data. */
struct spawn_clear {
    uint8_t *at;
    size_t len;
};
#define SPAWN_CLEARS (2 * SPAWN_SEGMENTS + 4)

/* Progress in the program's relocation table (abi/reloc.h). */
struct spawn_relocs {
    const uint8_t *at; /* the next code, or group; NULL: the program has no table */
    size_t codes;      /* codes left in the group */
    size_t len;        /* bytes of the table after them */
    uint8_t *place;
    size_t room;    /* bytes from the current position to the end of the segment's file bytes */
    uint32_t moved; /* distance by which the target of the group's words has moved */
};

/* A program being loaded: the state of PROC_SPAWN between its steps. */
struct spawn_job {
    struct thread *caller; /* [k] the thread in PROC_SPAWN; NULL: the kernel, at boot */
    struct payer payer;    /* [k] pays for the job's own memory */
    bool opened, laid_out; /* [k] like all fields below */
    bool in_place;         /* its text runs in the boot image (spawn_layout.c) */
    struct process *child; /* NULL: not created yet */
    struct elf_image elf;
    struct spawn_segment segments[SPAWN_SEGMENTS];
    struct spawn_clear clears[SPAWN_CLEARS];
    unsigned nsegments, nclears;
    unsigned laid;  /* next step of the layout */
    unsigned phase; /* SPAWN_PHASE_* */
    unsigned index; /* index of the phase's next object */
    size_t offset;  /* progress within it */
    struct spawn_relocs relocs;
    struct _thread_attr attr;                   /* attributes of the main thread */
    uint32_t stack_size, heap_size, block_size; /* requested sizes */
    uintptr_t stack_low, stack_high;            /* of the main thread; the startup block is above */
    uintptr_t heap_low, heap_high;
    uintptr_t block; /* startup block, in the process's address space */
    uint8_t *block_kva;
    struct kymo_spawn request; /* a checked copy */
};

/* Lays out the process's memory and maps it, one mapping per call (spawn_layout.c). Returns 1 if
 * there is more to do, 0 when done, or a negative errno; the mappings are freed with the
 * process. */
int spawn_layout_step(struct spawn_job *job);
/* Returns the process's address for the program's linked address `link`, or 0 if it is in no
 * segment. */
uintptr_t spawn_placed(const struct spawn_job *job, uint64_t link);
/* Does a piece of the loading. Returns 1 if there is more to do, 0 when done, or a negative errno
 * (spawn_load.c). */
int spawn_load_step(struct spawn_job *job);
/* Subtracts completed work from the rest of a step's work (spawn_load.c). */
void spawn_work(size_t *left, size_t done);
/* Finds the program's relocation table. */
void spawn_reloc_begin(struct spawn_job *job);
/* Relocates for at most about `work`. Returns 1 if there is more to do, 0 when done, or -ENOEXEC
 * (spawn_reloc.c). */
int spawn_reloc_some(struct spawn_job *job, size_t *work);
/* Returns the size of the startup block in bytes, a multiple of 32; writes the block
 * (spawn_load.c). */
uint32_t spawn_block_size(const struct kymo_spawn *spawn);
void spawn_block_write(struct spawn_job *job, const struct kymo_spawn *spawn);

#endif
