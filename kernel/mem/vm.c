/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory of processes: a process's list of mappings, which the kernel also uses to translate its
 * addresses. Kernel lock held, except vm_user_ptr() and vm_user_span() of the caller's own process
 * from a NOLOCK call.
 *
 * Why those need no lock: such a call runs inside the kernel on its CPU (with interrupts masked
 * where there are several CPUs), doesn't wait, and uses the pointer before it leaves. Entries are
 * published by their length: it is written last when an entry is filled, and zeroed first when one
 * is removed. Then vm_remove() cross-calls every CPU that may be in such a call before it frees the
 * memory or lets another entry move into the slot: a CPU answers only when it is not in one, so by
 * then no CPU uses the old entry. Those are the CPUs whose running thread is of this process. A CPU
 * changes its thread only with the lock, which vm_remove() has: one that runs another process's
 * thread, or none, comes to such a call only after it has had the lock, and then sees the new
 * entries. So a process that unmaps interrupts only its own threads.
 *
 * A moving entry is in its new slot before it leaves the old one, but a reader may pass the new
 * slot before that and the old one after; so a failed lookup is repeated. Once is enough: one call
 * overlaps one removal at most, whose second cross-call waits for the call's end. With one CPU,
 * nothing else runs in the kernel meanwhile.
 *
 * Tested by test/unit_kernel/memory_test.c, and with CPUs that are threads by
 * test/threads/vm_test.c.
 */
#include "abi/errno.h"
#include "kernel/base/cpu.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/irq.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/proc.h"

static inline size_t mapping_len(const struct mapping *m)
{
    return CONFIG_CPUS > 1 ? __atomic_load_n(&m->len, __ATOMIC_ACQUIRE) : m->len;
}

static inline void mapping_publish(struct mapping *m, size_t len)
{
    __atomic_store_n(&m->len, len, CONFIG_CPUS > 1 ? __ATOMIC_RELEASE : __ATOMIC_RELAXED);
}

/* Undefined until the length is not 0. */
static inline uintptr_t mapping_start(const struct mapping *m)
{
    return __atomic_load_n(&m->vaddr, __ATOMIC_RELAXED);
}

static inline void mapping_set_start(struct mapping *m, uintptr_t vaddr)
{
    __atomic_store_n(&m->vaddr, vaddr, __ATOMIC_RELAXED);
}

/* A reader that sees the smaller count finds a moved entry in its new slot. */
static inline unsigned vm_count(const struct vm_space *space)
{
    return __atomic_load_n(&space->nmaps, CONFIG_CPUS > 1 ? __ATOMIC_ACQUIRE : __ATOMIC_RELAXED);
}

static inline void vm_set_count(struct vm_space *space, unsigned n)
{
    __atomic_store_n(&space->nmaps, n, CONFIG_CPUS > 1 ? __ATOMIC_RELEASE : __ATOMIC_RELAXED);
}

static inline bool mapping_allows(const struct mapping *m, unsigned prot)
{
    return (m->flags & (prot | KYMO_MAP_DEVICE)) == prot;
}

static inline void *mapping_kva(const struct mapping *m, uintptr_t offset)
{
    return (char *)arch_phys_to_virt(m->phys) + offset;
}

/* Returns the entry that contains addr; *room: bytes from addr to its end. */
static inline const struct mapping *vm_lookup(const struct process *proc, uintptr_t addr,
                                              size_t *room)
{
    const struct mapping *m = proc->space.maps;

    for (unsigned n = vm_count(&proc->space); n > 0; n--, m++) {
        size_t len = mapping_len(m);
        uintptr_t offset = addr - mapping_start(m); /* wraps to something large below the mapping */
        if (offset < len) {
            *room = len - offset;
            return m;
        }
    }
    return NULL;
}

static __attribute__((noinline)) void *vm_search(const struct process *proc, uintptr_t addr,
                                                 size_t *len, unsigned prot, bool whole)
{
    size_t room;
    const struct mapping *m = vm_lookup(proc, addr, &room);

    if (CONFIG_CPUS > 1 && !m) { /* the entry may have moved: see the head of this file */
        m = vm_lookup(proc, addr, &room);
    }
    if (!m || !mapping_allows(m, prot) || (whole && *len > room)) {
        return NULL;
    }
    if (*len > room) {
        *len = room;
    }
    return mapping_kva(m, addr - m->vaddr);
}

/* Both try the first mapping first: a stack or all writable data. */
void *vm_user_ptr(struct process *proc, uintptr_t addr, size_t len, unsigned prot)
{
    const struct mapping *m = proc->space.maps;
    size_t end = mapping_len(m);
    uintptr_t offset = addr - mapping_start(m);

    if (offset < end && len <= end - offset && mapping_allows(m, prot)) {
        return mapping_kva(m, offset);
    }
    return vm_search(proc, addr, &len, prot, true);
}

void *vm_user_span(struct process *proc, uintptr_t addr, size_t *len, unsigned prot)
{
    const struct mapping *m = proc->space.maps;
    size_t end = mapping_len(m);
    uintptr_t offset = addr - mapping_start(m);

    if (offset < end && *len <= end - offset && mapping_allows(m, prot)) {
        return mapping_kva(m, offset);
    }
    return vm_search(proc, addr, len, prot, false);
}

static void vm_refresh(struct process *proc)
{
    struct thread *current = arch_cpu()->current;

    if (current && current->proc == proc) {
        arch_aspace_refresh(proc);
    }
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

static void vm_append(struct process *proc, const struct mapping *m)
{
    struct mapping *entry = &proc->space.maps[proc->space.nmaps];

    kernel_assert(proc->space.nmaps < CONFIG_MAPPINGS && m->len > 0);
    mapping_set_start(entry, m->vaddr);
    entry->phys = m->phys;
    entry->flags = m->flags;
    entry->arch = m->arch;
    mapping_publish(entry, m->len);
    vm_set_count(&proc->space, proc->space.nmaps + 1);
    quota_charge(&proc->quota, KYMO_LIMIT_MAPPINGS, 1); /* vm_map() has asked whether it can */
    if (m->flags & MAPPING_OWNED) {
        proc->space.owned_bytes += m->len;
    }
    trace_mmap(proc->pid, m->vaddr, m->len, m->flags & 0xff, m->flags & 7, -1, 0, m->phys, "");
}

/* Allocates memory for m if it has none. *owned: RAM allocated here, to be freed on failure. */
static int vm_back(struct process *proc, struct mapping *m, paddr_t *owned)
{
    size_t rounded, align;
    int error = arch_map_shape(m->len, m->flags, &rounded, &align);

    *owned = 0;
    if (error) {
        return error;
    }
    if (m->phys || (m->flags & KYMO_MAP_DEVICE)) {
        m->len = rounded;
        return (m->phys & (align - 1)) ? -EINVAL : 0;
    }
    m->len = rounded;
    m->phys = *owned = ram_alloc(&proc->quota, rounded, align);
    m->flags |= MAPPING_OWNED;
    if (!m->phys) {
        return -ENOMEM;
    }
    phys_clear(m->phys, rounded);
    return 0;
}

int vm_map(struct process *proc, struct mapping *m)
{
    paddr_t owned;

    kernel_assert(kernel_locked());
    if (proc->space.nmaps == CONFIG_MAPPINGS || !quota_has(&proc->quota, KYMO_LIMIT_MAPPINGS, 1)) {
        return -EAGAIN;
    }
    int error = vm_back(proc, m, &owned);
    if (!error) {
        m->arch = 0;
        error = arch_aspace_map(&proc->space.arch, m, proc->space.maps, proc->space.nmaps);
    }
    if (error) {
        if (owned) {
            ram_free(&proc->quota, owned, m->len);
        }
        return error;
    }
    vm_append(proc, m);
    vm_refresh(proc);
    return 0;
}

struct mapping *vm_find(struct process *proc, uintptr_t vaddr, size_t len)
{
    for (unsigned i = 0; i < proc->space.nmaps; i++) {
        struct mapping *m = &proc->space.maps[i];
        if (m->vaddr == vaddr && (m->len == len || len == 0)) {
            return m;
        }
    }
    return NULL;
}

static void vm_nothing(void *arg)
{
    (void)arg;
}

/* Returns the other CPUs that may be in a NOLOCK call of this process: those that run a thread of
 * it, which can't change while the lock is held. */
static uint32_t vm_readers(const struct process *proc)
{
    uint32_t readers = 0;

    for (uint32_t rest = cpus_online & ~(1u << arch_cpu()->id); rest; rest &= rest - 1) {
        unsigned n = (unsigned)__builtin_ctz(rest);
        const struct thread *t = cpus[n].current;
        readers |= t && t->proc == proc ? 1u << n : 0;
    }
    return readers;
}

/* Waits until no CPU is in a NOLOCK call that began before this: see the head of this file. */
static void vm_grace(const struct process *proc)
{
    uint32_t readers = CONFIG_CPUS > 1 ? vm_readers(proc) : 0;

    if (readers) {
        cpu_run_on(readers, vm_nothing, NULL);
    }
}

/* Moves the last entry into the slot of m, which no reader uses any more. */
static void vm_close_gap(struct vm_space *space, struct mapping *m)
{
    struct mapping *last = &space->maps[space->nmaps - 1];

    if (m != last) {
        mapping_set_start(m, last->vaddr);
        m->phys = last->phys;
        m->flags = last->flags;
        m->arch = last->arch;
        mapping_publish(m, last->len);
    }
    mapping_publish(last, 0); /* readers check the first entry even if there is none */
    vm_set_count(space, space->nmaps - 1);
}

/* Clears what the threads know of their messages' and sync_t's memory, so that it is looked up
 * again. */
static void vm_forget_buffers(struct process *proc)
{
    for (unsigned i = 0; i < CONFIG_THREADS_PER_PROCESS; i++) {
        struct thread *t = proc->threads[i];

        if (t) {
            t->buffer = NULL;
            t->plain = NULL;
            t->iov_cache.covered = t->out_cache.covered = t->in_cache.covered = 0;
            t->sync_cache.covered = 0;
        }
    }
}

void vm_protect(struct process *proc, struct mapping *m, unsigned prot)
{
    const unsigned rights = KYMO_PROT_READ | KYMO_PROT_WRITE | KYMO_PROT_EXEC;

    kernel_assert(kernel_locked());
    m->flags = (m->flags & ~rights) | prot;
    arch_aspace_protect(&proc->space.arch, m);
    vm_forget_buffers(proc);
    vm_grace(proc); /* from here on no NOLOCK call writes with the old rights */
}

void vm_remove(struct process *proc, struct mapping *m)
{
    struct vm_space *space = &proc->space;
    struct mapping gone = *m;

    kernel_assert(kernel_locked());
    kernel_assert(m >= space->maps && m < space->maps + space->nmaps);
    kernel_assert(!(gone.flags & MAPPING_OWNED) || space->owned_bytes >= gone.len);
    arch_aspace_unmap(&space->arch, m);
    mapping_publish(m, 0);
    vm_grace(proc);
    vm_close_gap(space, m);
    vm_forget_buffers(proc);
    vm_grace(proc); /* from here on the moved entry's old slot may be reused */
    vm_refresh(proc);
    trace_munmap(proc->pid, gone.vaddr, gone.len);
    quota_release(&proc->quota, KYMO_LIMIT_MAPPINGS, 1);
    if (gone.flags & MAPPING_OWNED) {
        space->owned_bytes -= gone.len;
        arch_irq_window();
        ram_free(&proc->quota, gone.phys, gone.len);
    }
    if (gone.flags & KYMO_MAP_OBJECT) {
        object_unmapped(gone.phys);
    }
}

int vm_unmap(struct process *proc, uintptr_t vaddr, size_t len)
{
    struct mapping *m = vm_find(proc, vaddr, len);

    if (!m) {
        return -EINVAL;
    }
    vm_remove(proc, m);
    return 0;
}

void vm_process_gone(struct process *proc)
{
    struct vm_space *space = &proc->space;

    proc->lib_word_kva = NULL;
    while (space->nmaps > 0) {
        vm_remove(proc, &space->maps[space->nmaps - 1]);
        arch_irq_window();
    }
    kernel_assert(space->owned_bytes == 0);
    arch_aspace_destroy(&space->arch);
}
