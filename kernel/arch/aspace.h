/* SPDX-License-Identifier: BSD-2-Clause */
/* The port interface: address spaces, physical memory, caches. kernel/arch/cpu.h explains the
 * marks. */
#ifndef KERNEL_ARCH_ASPACE_H
#define KERNEL_ARCH_ASPACE_H

#include "kernel/arch/cpu.h"

typedef uintptr_t paddr_t;

/* A mapping of a process: contiguous in virtual and in physical memory. See kernel/mem/mem.h. */
struct mapping {
    uintptr_t vaddr; /* 0: free entry */
    size_t len;      /* bytes, multiple of the granule */
    paddr_t phys;
    uint32_t flags; /* KYMO_PROT_* | KYMO_MAP_* | MAPPING_* */
    uint32_t arch;  /* private to the port (region number, …) */
};
#define MAPPING_OWNED 0x1000 /* RAM that is freed with the mapping */

/* The mappings of a space: maps[order[i]], i below n, from the highest address to the lowest. */
struct mapping_list {
    const struct mapping *maps;
    const uint16_t *order;
    unsigned n;
};

/* Converts a physical RAM address to a kernel pointer (direct map), and back. [inline, boot] */
static inline void *arch_phys_to_virt(paddr_t pa);
static inline paddr_t arch_virt_to_phys(const void *va);
/* Computes the shape of a mapping that arch_aspace_map() accepts: the rounded length, and the
 * alignment of phys (on an MPU also of the virtual address, which equals it). Returns 0, or -ENOMEM
 * if no such mapping is possible. [cpu, boot] */
int arch_map_shape(size_t len, unsigned flags, size_t *rounded, size_t *align);
/* Creates an empty address space. Returns 0, -EAGAIN or -ENOMEM. [cpu, boot] */
int arch_aspace_create(struct arch_aspace *as);
/* Precondition: no mappings left. [cpu, boot] */
void arch_aspace_destroy(struct arch_aspace *as);
/* Chooses m->vaddr (if 0) so that it overlaps no mapping of the space, and maps m. Returns 0, or
 * -ENOMEM (no region, addresses or table memory). Like the next two it has interrupt windows
 * (arch_irq_window()) if it takes long, but nothing else of the kernel runs before it returns. Lock
 * held. [cpu, boot] */
int arch_aspace_map(struct arch_aspace *as, struct mapping *m, const struct mapping_list *others);
/* Unmaps m; when it returns, m is gone on all CPUs (TLBs included). Lock held. [cpu, boot] */
void arch_aspace_unmap(struct arch_aspace *as, struct mapping *m);
/* Applies changed rights in m->flags. When it returns, all CPUs use the new rights; until then each
 * uses either the old or the new ones. Lock held. [cpu, boot] */
void arch_aspace_protect(struct arch_aspace *as, const struct mapping *m);
/* Zeroes normal memory, as fast as the CPU can. [cpu, boot] */
void arch_clear(void *at, size_t len);
/* Reloads the mappings of the process that runs on this CPU after they changed. Lock held.
 * [cpu, boot] */
void arch_aspace_refresh(struct process *proc);
/* Makes newly written text visible to instruction fetch on every CPU. [cpu, boot] */
void arch_text_sync(const void *start, size_t len);
/* Writes dirty cache lines of this memory back to RAM, so that the contents survive a reset. Any
 * context. Empty where there is no data cache. [cpu, stub] */
void arch_cache_clean(const void *start, size_t len);

/* Memory for a port's tables, supplied by kernel/mem/phys.c: zeroed. Returns 0 if out of memory. */
paddr_t phys_alloc(size_t len, size_t align);
void phys_free(paddr_t pa, size_t len);

#endif
