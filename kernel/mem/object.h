/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory objects: named, zeroed, physically contiguous memory that processes share and that
 * outlives its creator. An object exists while it has a name, a process has it open or mapped, or
 * the event log has its buffers in it; then its memory is freed. Kernel lock held, except
 * object_holds().
 */
#ifndef KERNEL_MEM_OBJECT_H
#define KERNEL_MEM_OBJECT_H

#include "kernel/arch/aspace.h"
#include "kernel/mem/vm.h"

struct object {
    bool used;                /* [k] */
    bool named;               /* [k] not unlinked */
    bool tracing;             /* [k] holds the event log's buffers: not writable by others */
    uint16_t mode;            /* [I] as a file's: creator, group, others */
    uint16_t opens, maps;     /* [k] */
    int32_t creator;          /* [k] pid; 0: gone */
    uint32_t ability;         /* [I] abilities of the group: the creator's, if it named none */
    paddr_t phys;             /* [k] 0: no memory yet */
    size_t size;              /* [k] bytes of the memory that are meaningful */
    size_t len;               /* [k] bytes of RAM, as mapped */
    size_t cleared;           /* [k] of those, zeroed; mappable when all are */
    char name[KYMO_NAME_MAX]; /* [I] */
};

/* Returns the object that the process has open under this id, or NULL. */
struct object *object_of(const struct process *proc, uintptr_t id);
/* Called when a mapping of an object was removed. */
void object_unmapped(paddr_t phys);
/* Frees the object if it is no longer in use. */
void object_check(struct object *object);
/* Closes an ending process's objects and clears it as creator. */
void object_process_gone(struct process *proc);
/* Returns whether any of [pa, pa + bytes) is an object's memory. Any context, no lock: the answer
 * may be stale. */
bool object_holds(paddr_t pa, size_t bytes);
/* MEM_MAP of kind KYMO_MAP_OBJECT: fills m; returns 0 or an errno. Call object_mapped() once it is
 * mapped. */
int object_map(const struct process *proc, const struct kymo_map *map, struct mapping *m);
void object_mapped(paddr_t phys);

/*
 * The event log's buffers in an object. object_offer() offers the object for an allocation of
 * `bytes`, until offer_end(). Returns 0, -EBADF, -EACCES (not open for writing), -EINVAL (its
 * memory is not exactly as long), -ENXIO, -EBUSY (mapped). trace_begin() takes the offered object
 * if the length matches: returns its address, or 0. trace_end() returns false if there are no
 * buffers in an object there.
 */
int object_offer(const struct process *proc, uintptr_t id, size_t bytes);
void object_offer_end(void);
paddr_t object_trace_begin(size_t len);
bool object_trace_end(paddr_t phys);

#endif
