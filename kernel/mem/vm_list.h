/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How calls that may not have the lock read a process's list of mappings (vm_lookup.c), while vm.c
 * changes it.
 *
 * These calls need no lock, because such a call runs inside the kernel on its CPU (with interrupts
 * masked where there are several CPUs), doesn't wait, and uses the pointer before it leaves. A
 * mapping keeps its slot. It is published by its length, which is written last when a slot is
 * filled, and zeroed first when it is emptied. Then vm_remove() cross-calls every CPU that may be
 * in such a call before it frees the memory or the slot: a CPU answers only when it is not in one,
 * so by then no CPU uses the old mapping. The CPUs that may be in such a call are those whose
 * running thread belongs to this process. A CPU changes its thread only with the lock, which
 * vm_remove() has: a CPU that runs another process's thread, or none, can make such a call only
 * after it has had the lock, and then sees the new mappings. So a process that unmaps interrupts
 * only its own threads.
 *
 * The order of the slots changes while readers search it. A reader that finds a slot whose mapping
 * contains the address has its result, in whatever order it searched. A reader that finds nothing
 * tests whether the order was changing or has changed, and in this case searches again. It limits
 * the number of searches, because a D probe may interrupt the very change that it waits for. A list
 * that grows is copied; the old one is freed when no CPU reads it. With one CPU, nothing else runs
 * in the kernel meanwhile.
 */
#ifndef KERNEL_MEM_VM_LIST_H
#define KERNEL_MEM_VM_LIST_H

#include "kernel/mem/mem.h"

static inline size_t mapping_len(const struct mapping *m)
{
    return CONFIG_CPUS > 1 ? __atomic_load_n(&m->len, __ATOMIC_ACQUIRE) : m->len;
}

/* Undefined until the length is not 0. */
static inline uintptr_t mapping_start(const struct mapping *m)
{
    return __atomic_load_n(&m->vaddr, __ATOMIC_RELAXED);
}

#define VM_READ_ORDER (CONFIG_CPUS > 1 ? __ATOMIC_ACQUIRE : __ATOMIC_RELAXED)

/* Read in this order: then all slot numbers of a larger count are in the order that is read after
 * it, and all slots of a larger order in the slots. */
static inline unsigned vm_count(const struct vm_space *space)
{
    return __atomic_load_n(&space->nmaps, VM_READ_ORDER);
}

static inline const uint16_t *vm_order(const struct vm_space *space)
{
    return __atomic_load_n(&space->order, VM_READ_ORDER);
}

static inline const struct mapping *vm_slots(const struct vm_space *space)
{
    return __atomic_load_n(&space->maps, VM_READ_ORDER);
}

static inline unsigned vm_order_at(const uint16_t *order, unsigned i)
{
    return __atomic_load_n(&order[i], VM_READ_ORDER);
}

static inline uint32_t vm_changes(const struct vm_space *space)
{
    return __atomic_load_n(&space->changes, VM_READ_ORDER);
}

#endif
