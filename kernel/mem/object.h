/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory objects: named, zeroed, physically contiguous memory that processes share and that
 * outlives its maker. An object is there while it has a name, a process has it open or mapped, or
 * the event log has its buffers in it; then its memory goes back. Kernel lock held, but for
 * object_holds().
 */
#ifndef KERNEL_MEM_OBJECT_H
#define KERNEL_MEM_OBJECT_H

#include "kernel/mem/vm.h"

struct object {
    bool used;                /* [k] */
    bool named;               /* [k] not unlinked yet */
    bool tracing;             /* [k] the event log's buffers: nobody else may write */
    uint16_t mode;            /* [I] as of a file: creator, able, others */
    uint16_t opens, maps;     /* [k] */
    int32_t creator;          /* [k] pid; 0: gone */
    uint32_t ability;         /* [I] of who is able: the creator's, if it named none */
    paddr_t phys;             /* [k] 0: no memory yet */
    size_t size;              /* [k] of the memory, what means something */
    size_t len;               /* [k] bytes of RAM, as a mapping has them */
    size_t cleared;           /* [k] of those; it can be mapped when it is all */
    char name[KYMO_NAME_MAX]; /* [I] */
};

/* What the process has open under this id, or NULL. */
struct object *object_of(const struct process *proc, uintptr_t id);
/* A mapping of it has gone. */
void object_unmapped(paddr_t phys);
/* Frees it if nothing holds it any more. */
void object_check(struct object *object);
/* Opens and names of a process that ends. */
void object_process_gone(struct process *proc);
/* Any of [pa, pa + bytes) is an object's memory. Any context, no lock: what it says may be old. */
bool object_holds(paddr_t pa, size_t bytes);
/* MEM_MAP's kind KYMO_MAP_OBJECT: fills m; 0 or an errno. When it is mapped: object_mapped(). */
int object_map(const struct process *proc, const struct kymo_map *map, struct mapping *m);
void object_mapped(paddr_t phys);

/*
 * The event log's buffers in an object. Offered for an allocation of `bytes`, until offer_end(): 0,
 * -EBADF, -EACCES (not open for writing), -EINVAL (its memory is not just as long as theirs),
 * -ENXIO, -EBUSY (somebody has it mapped). trace_begin() takes what is offered if it is of this
 * length: its address, or 0. trace_end(): false if there are no buffers in an object there.
 */
int object_offer(const struct process *proc, uintptr_t id, size_t bytes);
void object_offer_end(void);
paddr_t object_trace_begin(size_t len);
bool object_trace_end(paddr_t phys);

#endif
