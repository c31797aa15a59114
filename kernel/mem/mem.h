/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory of processes. Every mapping is one physically contiguous piece, so the mapping list itself
 * translates user addresses: the kernel never walks page tables and never faults on a user pointer.
 * Kernel lock held, except vm_user_ptr() of the caller's own process from a NOLOCK call. That is
 * safe because mappings of a process are removed only under the lock while no thread of it is in
 * the kernel: see vm_list.h.
 */
#ifndef KERNEL_MEM_MEM_H
#define KERNEL_MEM_MEM_H

#include "abi/errno.h"
#include "abi/sys/kymo.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/cpu.h"
#include "kernel/base/quota.h"

struct process;
struct thread;

/*
 * User mapping cache: the mapping where the previous lookup of a thread's messages, or of its
 * synchronization objects, found memory with the requested rights. For lookups of at most
 * VM_CACHE_SPAN bytes (kernel/ipc/msg_copy.h, kernel/sync/sync.h). A change of the process's
 * mappings empties it.
 */
#define VM_CACHE_SPAN 64
struct vm_cache {
    uintptr_t base;
    size_t covered;   /* number of addresses from base on that have VM_CACHE_SPAN bytes; 0: empty */
    uintptr_t offset; /* added to such an address gives its kernel pointer */
};

/* Returns the kernel pointer of these bytes, at most VM_CACHE_SPAN, from the cache alone, or NULL
 * if they are not cached or near the mapping's end. */
static inline void *vm_cache_ptr(const struct vm_cache *cache, uintptr_t addr)
{
    return addr - cache->base < cache->covered ? (void *)(addr + cache->offset) : NULL;
}

struct vm_space {
    struct arch_aspace arch; /* [k] must be first */
    /* The next four are read without the lock: see vm_list.h. A mapping keeps its slot. order has
     * the numbers of the slots: of those in use by falling address, then of the free ones */
    struct mapping *maps; /* [k] slots */
    uint16_t *order;      /* [k] stored after the slots */
    unsigned nmaps;       /* [k] in use: order[0 … nmaps - 1] */
    uint32_t changes;     /* [k] odd while order and nmaps change */
    unsigned slots;       /* [k] present number; grows up to CONFIG_MAPPINGS */
    uint64_t owned_bytes; /* [k] bytes of RAM in the mappings that belong to the process */
    struct mapping first[CONFIG_MAPPINGS_FIRST]; /* [k] the slots of most processes */
    uint16_t first_order[CONFIG_MAPPINGS_FIRST]; /* [k] */
};

/* Returns the i-th mapping, from the highest address to the lowest. Lock held. */
static inline struct mapping *vm_nth(const struct vm_space *space, unsigned i)
{
    return &space->maps[space->order[i]];
}
/* Initializes an empty list. */
static inline void vm_init(struct vm_space *space)
{
    space->maps = space->first;
    space->order = space->first_order;
    space->slots = CONFIG_MAPPINGS_FIRST;
    for (unsigned i = 0; i < CONFIG_MAPPINGS_FIRST; i++) {
        space->first_order[i] = (uint16_t)i;
    }
}

/*
 * Returns the kernel pointer for user range [addr, addr+len) if it lies within one mapping that has
 * all of prot; else NULL. len 0 is checked like 1. Device memory never qualifies.
 */
void *vm_user_ptr(struct process *proc, uintptr_t addr, size_t len, unsigned prot);
/* Like vm_user_ptr(), for as much of the range as the mapping contains; reduces *len
 * accordingly. */
void *vm_user_span(struct process *proc, uintptr_t addr, size_t *len, unsigned prot);
/* Fills the cache with the mapping that has these bytes with all of prot. Returns their kernel
 * pointer, or NULL, with the cache unchanged, if there is no such mapping of VM_CACHE_SPAN
 * bytes. */
void *vm_cache_fill(struct vm_cache *cache, const struct process *proc, uintptr_t addr,
                    size_t bytes, unsigned prot);

/* Adds a mapping; fills in m->vaddr. Allocates RAM if m->phys is 0 and it is not a device. */
int vm_map(struct process *proc, struct mapping *m); /* 0, -ENOMEM, -EAGAIN (no entry left) */

/* Returns whether the whole range is memory of the process with these rights, possibly in several
 * mappings. */
bool vm_user_ok(struct process *proc, uintptr_t addr, size_t len, unsigned prot);

/* Copy functions: return 0, or -EFAULT with nothing written. Structures are copied once. */
int copy_in(struct process *proc, void *dst, uintptr_t src, size_t len);
int copy_out(struct process *proc, uintptr_t dst, const void *src, size_t len);
/*
 * These functions make a call read the same bytes of a structure that its event has recorded, even
 * if programs on other CPUs change the structure in between. copy_keep(), called for the event
 * without the lock, returns a copy of the structure's first bytes, at most COPY_KEPT, or NULL if
 * they aren't all in the caller's memory. The call follows on this CPU: while cpu->kept_for is its
 * process, copy_in() of that structure gives the same bytes. cpu->kept is 0 again afterwards. With
 * one CPU nothing runs in between, and nothing is kept.
 */
#define COPY_KEPT 96
const char *copy_keep(struct process *proc, uintptr_t src, size_t len);
/* Copies a user string with its NUL into dst[size]. Returns its length, -EFAULT or
 * -ENAMETOOLONG. */
long copy_in_string(struct process *proc, char *dst, uintptr_t src, size_t size);

/*
 * Physical memory (kernel/mem/phys.c). Allocating and freeing take O(log n) steps, whatever is in
 * use. phys_free() takes the length that was allocated.
 */
void phys_init(paddr_t start, size_t len);
paddr_t phys_alloc(size_t len, size_t align); /* 0: none. Zeroed */
/* like phys_alloc(), not zeroed: the caller must zero it */
paddr_t phys_alloc_raw(size_t len, size_t align);
/* like phys_alloc_raw(), all of it below this address */
paddr_t phys_alloc_below(size_t len, size_t align, paddr_t end);
/* Allocates exactly these bytes, from the start of a granule, not zeroed. Returns false if any of
 * them isn't free RAM. */
bool phys_alloc_at(paddr_t pa, size_t len);
void phys_free(paddr_t pa, size_t len);
size_t phys_available(void);
size_t phys_granule(void); /* in bytes; no two allocations share one */
/* Allocates RAM that is charged to an account (kernel/mem/ram.c). Not zeroed. Returns 0 if there is
 * none or a limit is exceeded. */
paddr_t ram_alloc(struct quota *quota, size_t len, size_t align);
/* Likewise at this address. Returns false if the charge is refused or the memory isn't free. */
bool ram_alloc_at(struct quota *quota, paddr_t pa, size_t len);
void ram_free(struct quota *quota, paddr_t pa, size_t len);
/* Starts to record which RAM is allocated by these functions. Called after phys_init(). */
void ram_init(paddr_t start, size_t len);
/* Returns whether any of [pa, pa + bytes) was allocated so. Any context, no lock: the answer may be
 * stale. */
bool ram_held(paddr_t pa, size_t bytes);
/* Zeroes RAM, with interrupt windows; the lock stays held. */
void phys_clear(paddr_t pa, size_t len);
/* Returns the mapping that begins at vaddr and has this length (0: any), or NULL. */
struct mapping *vm_find(struct process *proc, uintptr_t vaddr, size_t len);
/* Removes mapping m of proc, undoing vm_map(). */
void vm_remove(struct process *proc, struct mapping *m);
/* Removes the mapping that vm_find() finds. Returns 0, or -EINVAL: there is none. */
static inline int vm_unmap(struct process *proc, uintptr_t vaddr, size_t len)
{
    struct mapping *m = vm_find(proc, vaddr, len);

    if (m) {
        vm_remove(proc, m);
    }
    return m ? 0 : -EINVAL;
}
/* Changes the rights of one of proc's mappings to prot (KYMO_PROT_*). The caller makes new text
 * visible to instruction fetch. */
void vm_protect(struct process *proc, struct mapping *m, unsigned prot);
/* Removes an ending process's mappings and frees their memory. */
void vm_process_gone(struct process *proc);
/* Abandons MEM_MAP's unfinished work when its caller ends. */
void mem_map_abandon(struct thread *t);

/* ---- memory objects (object.c) ----------------------------------------------------- */

/*
 * Memory objects: named, zeroed, physically contiguous memory that processes share and that
 * outlives its creator. An object exists while it has a name, a process has it open or mapped, or
 * the event log has its buffers in it; after that its memory is freed. Kernel lock held.
 */
struct object {
    bool used;            /* [k] */
    bool named;           /* [k] not unlinked */
    bool tracing;         /* [k] holds the event log's buffers: not writable by others */
    uint16_t mode;        /* [I] like a file's: creator, group, others */
    uint16_t opens, maps; /* [k] */
    int32_t creator;      /* [k] pid; 0: gone */
    struct payer payer;   /* [I] pays for the object and its memory: the creator */
    /* [I] abilities that make a process a member of the group: the creator's, if it named none */
    uint32_t ability;
    paddr_t phys;             /* [k] 0: no memory yet */
    size_t size;              /* [k] bytes of the memory that are in use */
    size_t len;               /* [k] bytes of RAM, as mapped */
    size_t cleared;           /* [k] bytes of these that are zeroed; mappable when all are */
    char name[KYMO_NAME_MAX]; /* [I] */
};

/* Returns the object that the process has open with this id, or NULL. */
struct object *object_of(const struct process *proc, uintptr_t id);
/* Called when a mapping of an object was removed. */
void object_unmapped(paddr_t phys);
/* Closes an ending process's objects and clears it as creator. */
void object_process_gone(struct process *proc);
/* Implements MEM_MAP of kind KYMO_MAP_OBJECT: fills m; returns 0 or an errno. The caller calls
 * object_mapped() once it is mapped. */
int object_map(const struct process *proc, const struct kymo_map *map, struct mapping *m);
void object_mapped(paddr_t phys);

/*
 * Let the event log have its buffers in an object. object_offer() offers the object for an
 * allocation of `bytes`, until offer_end(). It returns 0, -EBADF, -EACCES (not open for writing),
 * -EINVAL (its memory is not exactly as long), -ENXIO, -EBUSY (mapped). trace_begin() takes the
 * offered object if the length matches, and returns its address, or 0. trace_end() returns false if
 * there are no buffers in an object at that address.
 */
int object_offer(const struct process *proc, uintptr_t id, size_t bytes);
void object_offer_end(void);
paddr_t object_trace_begin(size_t len);
bool object_trace_end(paddr_t phys);

extern struct object objects[CONFIG_OBJECTS]; /* [k] */

/* An open object in struct process.objects: its number, from 1, and whether it is open for
 * writing. */
#define OBJECT_NUMBER 0x7f
#define OBJECT_WRITABLE 0x80

#endif
