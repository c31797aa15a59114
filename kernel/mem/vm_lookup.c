/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Translation of a process's addresses by its list of mappings. Kernel lock held, except
 * vm_user_ptr() and vm_user_span() of the caller's own process from a NOLOCK call: vm_list.h says
 * why that is safe.
 *
 * Tested by test/kernel/mem/memory_test.c, and with CPUs that are threads by
 * test/kernel/mem/vm_threads_test.c.
 */
#include "kernel/arch/aspace.h"
#include "kernel/base/cpu.h"
#include "kernel/mem/vm_list.h"
#include "kernel/proc/proc.h"

static inline bool mapping_allows(const struct mapping *m, unsigned prot)
{
    return (m->flags & (prot | KYMO_MAP_DEVICE)) == prot;
}

static inline void *mapping_kva(const struct mapping *m, uintptr_t offset)
{
    return (char *)arch_phys_to_virt(m->phys) + offset;
}

#define VM_SEARCHES 4096 /* more than fit in the longest change of the order */

/* Returns the mapping that contains addr, or NULL; *room: number of bytes from addr to its end. */
static inline const struct mapping *vm_lookup_once(const struct vm_space *space, uintptr_t addr,
                                                   size_t *room)
{
    unsigned low = 0, high = vm_count(space);
    const uint16_t *order = vm_order(space);
    const struct mapping *maps = vm_slots(space);

    while (low < high) { /* halves each time */
        unsigned middle = (low + high) / 2;
        const struct mapping *m = &maps[vm_order_at(order, middle)];
        size_t len = mapping_len(m);
        uintptr_t offset = addr - mapping_start(m); /* wraps to a large number below the mapping */

        if (offset < len) {
            *room = len - offset;
            return m;
        }
        if (mapping_start(m) > addr) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

static inline const struct mapping *vm_lookup(const struct process *proc, uintptr_t addr,
                                              size_t *room)
{
    const struct vm_space *space = &proc->space;
    const struct mapping *m;
    unsigned searches = CONFIG_CPUS > 1 ? VM_SEARCHES : 1;
    uint32_t before;

    do {
        before = vm_changes(space);
        m = vm_lookup_once(space, addr, room);
    } while (!m && --searches > 0 && ((before & 1) || vm_changes(space) != before));
    return m;
}

static __attribute__((noinline)) void *vm_search(const struct process *proc, uintptr_t addr,
                                                 size_t *len, unsigned prot, bool whole)
{
    size_t room;
    const struct mapping *m = vm_lookup(proc, addr, &room);

    if (!m || !mapping_allows(m, prot) || (whole && *len > room)) {
        return NULL;
    }
    if (*len > room) {
        *len = room;
    }
    return mapping_kva(m, addr - m->vaddr);
}

/* Both try the first slot first: it is the stack, or all writable data. */
void *vm_user_ptr(struct process *proc, uintptr_t addr, size_t len, unsigned prot)
{
    const struct mapping *m = vm_slots(&proc->space);
    size_t end = mapping_len(m);
    uintptr_t offset = addr - mapping_start(m);

    if (offset < end && len <= end - offset && mapping_allows(m, prot)) {
        return mapping_kva(m, offset);
    }
    return vm_search(proc, addr, &len, prot, true);
}

void *vm_user_span(struct process *proc, uintptr_t addr, size_t *len, unsigned prot)
{
    const struct mapping *m = vm_slots(&proc->space);
    size_t end = mapping_len(m);
    uintptr_t offset = addr - mapping_start(m);

    if (offset < end && *len <= end - offset && mapping_allows(m, prot)) {
        return mapping_kva(m, offset);
    }
    return vm_search(proc, addr, len, prot, false);
}

void *vm_cache_fill(struct vm_cache *cache, const struct process *proc, uintptr_t addr,
                    size_t bytes, unsigned prot)
{
    kernel_assert(kernel_locked());
    size_t room;
    const struct mapping *m = vm_lookup(proc, addr, &room);

    if (!m || room < bytes || m->len < VM_CACHE_SPAN || !mapping_allows(m, prot)) {
        return NULL;
    }
    cache->base = m->vaddr;
    cache->covered = m->len - (VM_CACHE_SPAN - 1);
    cache->offset = (uintptr_t)mapping_kva(m, 0) - m->vaddr;
    return (void *)(addr + cache->offset);
}
