/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory of processes: changes of a process's list of mappings, which vm_lookup.c reads, possibly
 * without the lock (vm_list.h). Kernel lock held.
 *
 * Tested by test/kernel/mem/memory_test.c, and with CPUs that are threads by
 * test/kernel/mem/vm_threads_test.c.
 */
#include "abi/errno.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/irq.h"
#include "kernel/base/cpu.h"
#include "kernel/base/string.h"
#include "kernel/mem/vm_list.h"
#include "kernel/proc/proc.h"

/* ---- changes as readers see them --------------------------------------------------- */

#define VM_ORDER (CONFIG_CPUS > 1 ? __ATOMIC_RELEASE : __ATOMIC_RELAXED)

static inline void mapping_publish(struct mapping *m, size_t len)
{
    __atomic_store_n(&m->len, len, CONFIG_CPUS > 1 ? __ATOMIC_RELEASE : __ATOMIC_RELAXED);
}

static inline void mapping_set_start(struct mapping *m, uintptr_t vaddr)
{
    __atomic_store_n(&m->vaddr, vaddr, __ATOMIC_RELAXED);
}

static inline void vm_order_set(uint16_t *order, unsigned i, unsigned slot)
{
    __atomic_store_n(&order[i], (uint16_t)slot, VM_ORDER);
}

/* Called before and after each change of order and count. */
static inline void vm_change(struct vm_space *space)
{
    __atomic_store_n(&space->changes, space->changes + 1, VM_ORDER);
}

static void vm_refresh(struct process *proc)
{
    struct thread *current = arch_cpu()->current;

    if (current && current->proc == proc) {
        arch_aspace_refresh(proc);
    }
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

/* Waits until no CPU is in a NOLOCK call that began before this function was called: see
 * vm_list.h. */
static void vm_grace(const struct process *proc)
{
    uint32_t readers = CONFIG_CPUS > 1 ? vm_readers(proc) : 0;

    if (readers) {
        cpu_run_on(readers, vm_nothing, NULL);
    }
}

/* ---- the list ---------------------------------------------------------------------- */

static size_t vm_list_bytes(unsigned slots)
{
    return slots * (sizeof(struct mapping) + sizeof(uint16_t));
}

/* Frees a list that no reader uses; the list inside the process is emptied for its next use. */
static void vm_list_free(struct process *proc, struct mapping *maps, unsigned slots)
{
    if (maps != proc->space.first) {
        ram_free(&proc->quota, arch_virt_to_phys(maps), vm_list_bytes(slots));
        return;
    }
    memset(maps, 0, sizeof(proc->space.first));
}

/* Copies the list into one with four times as many slots. The RAM is charged to the process. */
static int vm_grow(struct process *proc)
{
    struct vm_space *space = &proc->space;
    unsigned old_slots = space->slots;
    unsigned slots = old_slots * 4 < CONFIG_MAPPINGS ? old_slots * 4 : CONFIG_MAPPINGS;
    paddr_t pa = ram_alloc(&proc->quota, vm_list_bytes(slots), sizeof(struct mapping));

    if (!pa) {
        return -ENOMEM;
    }
    struct mapping *maps = arch_phys_to_virt(pa), *old = space->maps;
    uint16_t *order = (uint16_t *)(maps + slots);
    memcpy(maps, old, old_slots * sizeof(*maps));
    memset(maps + old_slots, 0, (slots - old_slots) * sizeof(*maps));
    memcpy(order, space->order, old_slots * sizeof(*order));
    for (unsigned i = old_slots; i < slots; i++) {
        order[i] = (uint16_t)i;
    }
    __atomic_store_n(&space->maps, maps, VM_ORDER);
    __atomic_store_n(&space->order, order, VM_ORDER);
    space->slots = slots;
    vm_grace(proc); /* from here on no NOLOCK call reads the old list */
    vm_list_free(proc, old, old_slots);
    return 0;
}

/* Returns the position of the highest mapping that begins at or below addr, or nmaps. */
static unsigned vm_position(const struct vm_space *space, uintptr_t addr)
{
    unsigned low = 0, high = space->nmaps;

    while (low < high) { /* halves each time */
        unsigned middle = (low + high) / 2;

        if (vm_nth(space, middle)->vaddr <= addr) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* Inserts the first free slot, which has been filled, into the order: mostly at the end. */
static void vm_order_insert(struct vm_space *space, uintptr_t vaddr)
{
    unsigned slot = space->order[space->nmaps], at = vm_position(space, vaddr);

    vm_change(space);
    for (unsigned i = space->nmaps; i > at; i--) {
        vm_order_set(space->order, i, space->order[i - 1]);
    }
    vm_order_set(space->order, at, slot);
    __atomic_store_n(&space->nmaps, space->nmaps + 1, VM_ORDER);
    vm_change(space);
}

/* Makes the slot of m, which no reader uses any more, the first free one. */
static void vm_order_remove(struct vm_space *space, const struct mapping *m)
{
    unsigned at = vm_position(space, m->vaddr), slot = (unsigned)(m - space->maps);

    while (at < space->nmaps && space->order[at] != slot) { /* others at the same address (MPU) */
        at++;
    }
    kernel_assert(at < space->nmaps);
    vm_change(space);
    for (unsigned i = at; i + 1 < space->nmaps; i++) {
        vm_order_set(space->order, i, space->order[i + 1]);
    }
    vm_order_set(space->order, space->nmaps - 1, slot);
    __atomic_store_n(&space->nmaps, space->nmaps - 1, VM_ORDER);
    vm_change(space);
}

static void vm_insert(struct process *proc, const struct mapping *m)
{
    struct vm_space *space = &proc->space;
    struct mapping *entry = &space->maps[space->order[space->nmaps]];

    kernel_assert(space->nmaps < space->slots && m->len > 0 && entry->len == 0);
    mapping_set_start(entry, m->vaddr);
    entry->phys = m->phys;
    entry->flags = m->flags;
    entry->arch = m->arch;
    mapping_publish(entry, m->len);
    vm_order_insert(space, m->vaddr);
    quota_charge(&proc->quota, KYMO_LIMIT_MAPPINGS, 1); /* vm_map() has tested that this succeeds */
    if (m->flags & MAPPING_OWNED) {
        space->owned_bytes += m->len;
    }
    trace_mmap(proc->pid, m->vaddr, m->len, m->flags & 0xff, m->flags & 7, -1, 0, m->phys, "");
}

/* Allocates memory for m if it has none. *owned: the RAM allocated, to be freed on failure. */
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

/* Makes sure that there is a free slot. Returns 0, -EAGAIN or -ENOMEM. */
static int vm_need_slot(struct process *proc)
{
    const struct vm_space *space = &proc->space;

    if (space->nmaps == CONFIG_MAPPINGS || !quota_has(&proc->quota, KYMO_LIMIT_MAPPINGS, 1)) {
        return -EAGAIN;
    }
    return space->nmaps < space->slots ? 0 : vm_grow(proc);
}

int vm_map(struct process *proc, struct mapping *m)
{
    paddr_t owned = 0;

    kernel_assert(kernel_locked());
    int error = vm_need_slot(proc);
    error = error ? error : vm_back(proc, m, &owned);
    if (!error) {
        const struct mapping_list others = {proc->space.maps, proc->space.order, proc->space.nmaps};

        m->arch = 0;
        error = arch_aspace_map(&proc->space.arch, m, &others);
    }
    if (error) {
        if (owned) {
            ram_free(&proc->quota, owned, m->len);
        }
        return error;
    }
    vm_insert(proc, m);
    vm_refresh(proc);
    return 0;
}

struct mapping *vm_find(struct process *proc, uintptr_t vaddr, size_t len)
{
    /* With an MPU the same memory may be mapped more than once. */
    for (unsigned at = vm_position(&proc->space, vaddr); at < proc->space.nmaps; at++) {
        struct mapping *m = vm_nth(&proc->space, at);

        if (m->vaddr != vaddr) {
            return NULL;
        }
        if (m->len == len || len == 0) {
            return m;
        }
    }
    return NULL;
}

/* Empties the threads' caches of their messages' and sync_t's memory, so that it is looked up
 * again. */
static void vm_forget_buffers(struct process *proc)
{
    for (unsigned i = 0; i < CONFIG_THREADS_PER_PROCESS; i++) {
        struct thread *t = proc->threads[i];

        if (t) {
            t->buffer = NULL;
            t->plain = NULL;
            t->iov_cache.covered = t->out_cache.covered = t->in_cache.covered = 0;
            t->sync_cache.covered = t->text_cache.covered = t->words_cache.covered = 0;
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
    kernel_assert(m >= space->maps && m < space->maps + space->slots && m->len > 0);
    kernel_assert(!(gone.flags & MAPPING_OWNED) || space->owned_bytes >= gone.len);
    arch_aspace_unmap(&space->arch, m);
    mapping_publish(m, 0);
    vm_forget_buffers(proc);
    vm_grace(proc); /* from here on no NOLOCK call uses the memory, and the slot may be reused */
    vm_order_remove(space, m);
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

void vm_process_gone(struct process *proc)
{
    struct vm_space *space = &proc->space;

    proc->lib_word_kva = NULL;
    while (space->nmaps > 0) {
        vm_remove(proc, vm_nth(space, space->nmaps - 1));
        arch_irq_window();
    }
    vm_list_free(proc, space->maps, space->slots);
    vm_init(space);
    kernel_assert(space->owned_bytes == 0);
    arch_aspace_destroy(&space->arch);
}
