/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory of processes. Every mapping is one physically contiguous piece, so the mapping list itself
 * translates user addresses: the kernel never walks page tables and never faults on a user pointer.
 * Kernel lock held, except vm_user_ptr() of the caller's own process from a NOLOCK call. That is
 * safe because mappings of a process are removed only under the lock while no thread of it is in
 * the kernel: see vm.c.
 */
#ifndef KERNEL_MEM_VM_H
#define KERNEL_MEM_VM_H

#include "abi/sys/kymo.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/cpu.h"

struct process;
struct thread;

/*
 * User mapping cache: a process's first mapping, if it is plain read-write memory, which nearly
 * always contains its stack and data. For a few successive lookups of at most VM_WINDOW bytes each
 * (kernel/ipc/msg_copy.h); misses addresses closer than that to the mapping's end.
 */
#define VM_WINDOW 32
struct vm_window {
    uintptr_t base;
    size_t room;     /* number of addresses covered from base on; 0: no such mapping */
    uintptr_t delta; /* added to such an address gives its kernel pointer */
};

struct vm_space {
    struct arch_aspace arch;              /* [k] first */
    struct vm_window window;              /* [k] user mapping cache of maps[0] */
    struct mapping maps[CONFIG_MAPPINGS]; /* [k] most used first: stack and data before text */
    unsigned nmaps;                       /* [k] entries in use, no holes */
    uint64_t owned_bytes;                 /* [k] */
};

/*
 * Returns the kernel pointer for user range [addr, addr+len) if it lies within one mapping that has
 * all of prot; else NULL. len 0 is checked like 1. Device memory never qualifies.
 */
void *vm_user_ptr(struct process *proc, uintptr_t addr, size_t len, unsigned prot);
/* Like vm_user_ptr(), for as much of the range as the mapping contains; reduces *len to that. */
void *vm_user_span(struct process *proc, uintptr_t addr, size_t *len, unsigned prot);

/* Adds a mapping; fills in m->vaddr. Allocates RAM if m->phys is 0 and it is not a device. */
int vm_map(struct process *proc, struct mapping *m); /* 0, -ENOMEM, -EAGAIN (table full) */
int vm_unmap(struct process *proc, uintptr_t vaddr,
             size_t len); /* -EINVAL: not exactly a mapping */

/* Returns whether the whole range is memory of the process with these rights, possibly in several
 * mappings. */
bool vm_user_ok(struct process *proc, uintptr_t addr, size_t len, unsigned prot);

/* Copy functions: return 0, or -EFAULT with nothing written. Structures are copied once. */
int copy_in(struct process *proc, void *dst, uintptr_t src, size_t len);
int copy_out(struct process *proc, uintptr_t dst, const void *src, size_t len);
/* Copies a user string with its NUL into dst[size]. Returns its length, -EFAULT or
 * -ENAMETOOLONG. */
long copy_in_string(struct process *proc, char *dst, uintptr_t src, size_t size);

/* Physical memory: first fit over a bitmap of granules (kernel/mem/phys.c). */
void phys_init(paddr_t start, size_t len);
paddr_t phys_alloc(size_t len, size_t align); /* 0: none. Zeroed. */
/* likewise, not zeroed: the caller must zero it */
paddr_t phys_alloc_raw(size_t len, size_t align);
void phys_free(paddr_t pa, size_t len);
size_t phys_available(void);
size_t phys_total(void);
/* Zeroes RAM, with preemption points. */
void phys_clear(paddr_t pa, size_t len);
/* Returns the mapping that begins at vaddr and has this length (0: any), or NULL. */
struct mapping *vm_find(struct process *proc, uintptr_t vaddr, size_t len);
/* Removes mapping m of proc, undoing vm_map(). */
void vm_remove(struct process *proc, struct mapping *m);
/* Changes the rights of one of proc's mappings to prot (KYMO_PROT_*). */
void vm_protect(struct process *proc, struct mapping *m, unsigned prot);
/* A process ends: its mappings and their memory. */
void vm_process_gone(struct process *proc);
/* MEM_MAP's unfinished work, when its caller dies. */
void mem_map_abandon(struct thread *t);

#endif
