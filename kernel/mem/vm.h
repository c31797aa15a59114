/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory of processes: every mapping is one physically contiguous piece, so the mapping list itself
 * translates user addresses: the kernel never walks page tables and never faults on a user pointer.
 * Kernel lock held, except vm_user_ptr() of the caller's own process from a NOLOCK call, which is
 * safe because mappings of a process go only under the lock while no thread of it is in the
 * kernel... see vm.c.
 */
#ifndef KERNEL_MEM_VM_H
#define KERNEL_MEM_VM_H

#include "abi/sys/kymo.h"
#include "kernel/arch/arch.h"

struct process;
struct thread;

/*
 * A process's first mapping, if it is plain memory to read and write: nearly always where its stack
 * and its data are. For a few lookups in a row of at most VM_WINDOW bytes each
 * (kernel/ipc/msg_copy.h); what is less than that from its end isn't found here.
 */
#define VM_WINDOW 32
struct vm_window {
    uintptr_t base;
    size_t room;     /* addresses from base on that are found; 0: no such mapping */
    uintptr_t delta; /* from such an address to its kernel pointer */
};

struct vm_space {
    struct arch_aspace arch;              /* [k] first */
    struct vm_window window;              /* [k] what maps[0] says */
    struct mapping maps[CONFIG_MAPPINGS]; /* [k] most used first: stack and data before text */
    unsigned nmaps;                       /* [k] entries in use, no holes */
    uint64_t owned_bytes;                 /* [k] */
};

/*
 * Kernel pointer for user range [addr, addr+len) if it lies whole in one mapping that has all of
 * prot; else NULL. len 0 is checked like 1. Device memory never qualifies.
 */
void *vm_user_ptr(struct process *proc, uintptr_t addr, size_t len, unsigned prot);
/* The same for as much of the range as the mapping holds; *len is cut to it. */
void *vm_user_span(struct process *proc, uintptr_t addr, size_t *len, unsigned prot);

/* Adds a mapping; m->vaddr is filled in. Allocates RAM if m->phys is 0 and it is not a device. */
int vm_map(struct process *proc, struct mapping *m); /* 0, -ENOMEM, -EAGAIN (table full) */
int vm_unmap(struct process *proc, uintptr_t vaddr,
             size_t len); /* -EINVAL: not exactly a mapping */

/* The whole range is memory of the process with these rights, in however many mappings. */
bool vm_user_ok(struct process *proc, uintptr_t addr, size_t len, unsigned prot);

/* Copies: 0 or -EFAULT; nothing is written unless everything can be. Structures are copied once. */
int copy_in(struct process *proc, void *dst, uintptr_t src, size_t len);
int copy_out(struct process *proc, uintptr_t dst, const void *src, size_t len);
/* A user string with its NUL into dst[size]: length, -EFAULT, -ENAMETOOLONG. */
long copy_in_string(struct process *proc, char *dst, uintptr_t src, size_t size);

/* Physical memory: first fit over a bitmap of granules (kernel/mem/phys.c). */
void phys_init(paddr_t start, size_t len);
paddr_t phys_alloc(size_t len, size_t align);     /* 0: none. Zeroed. */
paddr_t phys_alloc_raw(size_t len, size_t align); /* the same, not zeroed: the caller must */
void phys_free(paddr_t pa, size_t len);
size_t phys_available(void);
size_t phys_total(void);
/* Zeroes RAM, with preemption points for interrupts. */
void phys_clear(paddr_t pa, size_t len);
/* The mapping that begins at vaddr and has this length (0: any), or NULL. */
struct mapping *vm_find(struct process *proc, uintptr_t vaddr, size_t len);
/* As vm_map(), for a mapping that ends: m is one of proc's. */
void vm_remove(struct process *proc, struct mapping *m);
/* Changes the rights of one of proc's mappings to prot (KYMO_PROT_*). */
void vm_protect(struct process *proc, struct mapping *m, unsigned prot);
/* A process ends: its mappings and their memory. */
void vm_process_gone(struct process *proc);
/* MEM_MAP's unfinished work, when its caller dies. */
void mem_map_abandon(struct thread *t);

#endif
