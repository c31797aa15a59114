/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MemMap, MemUnmap, MemProtect, LibWord. Kernel lock held.
 *
 * New RAM is cleared before it is mapped, in pieces with a preemption point after each: until then
 * only the caller's args[] (PIECE_*) refer to it, and it is freed if the caller dies.
 *
 * kernel/mem/object.c lists the errors of object_map(). The others are EINVAL: no length, unknown
 * flags, writable and executable, two kinds at once, or (unmap) not exactly a mapping; EPERM:
 * DEVICE or TRACE without the ability, or a device that the kernel uses; ENXIO: no trace buffers;
 * EBUSY: the mapping contains the process's library word; ENOMEM, EAGAIN.
 */
#include "abi/errno.h"
#include "abi/sys/ability.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/board.h"
#include "kernel/arch/cpu.h"
#include "kernel/base/kercall.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/proc.h"
#include "kernel/base/string.h"
#include "trace/trace.h"

#define PROT_ALL (KYMO_PROT_READ | KYMO_PROT_WRITE | KYMO_PROT_EXEC)
#define KINDS (KYMO_MAP_DEVICE | KYMO_MAP_TRACE | KYMO_MAP_STACK | KYMO_MAP_OBJECT)
#define MAP_MOST 0x40000000u

/* Indices in args[] between the steps of MEM_MAP; args[0] is unchanged. */
#define PIECE_PHYS 1
#define PIECE_LEN 2
#define PIECE_FLAGS 3

static int mem_calls_request_check(const struct thread *self, const struct kymo_map *map)
{
    uint32_t prot = map->flags & PROT_ALL, kind = map->flags & KINDS;

    if ((map->flags & ~(uint32_t)(PROT_ALL | KINDS)) || (kind & (kind - 1)) || prot == 0 ||
        (prot & (KYMO_PROT_WRITE | KYMO_PROT_EXEC)) == (KYMO_PROT_WRITE | KYMO_PROT_EXEC)) {
        return -EINVAL;
    }
    if (!(kind & (KYMO_MAP_TRACE | KYMO_MAP_OBJECT)) && (map->len == 0 || map->len > MAP_MOST)) {
        return -EINVAL;
    }
    if ((kind == KYMO_MAP_TRACE && (!process_able(self->proc, ABILITY_TRACE))) ||
        (kind == KYMO_MAP_DEVICE && !process_able(self->proc, ABILITY_DEVICE))) {
        return -EPERM;
    }
    return kind == KYMO_MAP_TRACE && prot != KYMO_PROT_READ ? -EINVAL : 0;
}

static long map_answer(struct thread *self, struct kymo_map *map, struct mapping *m)
{
    int error = vm_map(self->proc, m);

    if (error) {
        return error;
    }
    map->vaddr = m->vaddr;
    map->len = m->len;
    if (copy_out(self->proc, self->args[0], map, sizeof(*map))) {
        vm_unmap(self->proc, m->vaddr, m->len);
        return -EFAULT;
    }
    return 0;
}

static long map_device(struct thread *self, struct kymo_map *map)
{
    struct mapping m = {.len = (size_t)map->len, .phys = (paddr_t)map->phys, .flags = map->flags};
    size_t rounded, align; /* of the memory that will be mapped */

    if (map->phys != m.phys || arch_map_shape(m.len, m.flags, &rounded, &align) != 0 ||
        map->phys + rounded < map->phys || !arch_device_allowed(m.phys, rounded)) {
        return -EPERM;
    }
    return map_answer(self, map, &m);
}

static long map_trace(struct thread *self, struct kymo_map *map)
{
    uint64_t phys, bytes;

    if (!trace_buffers(&phys, &bytes)) {
        return -ENXIO;
    }
    struct mapping m = {.len = (size_t)bytes, .phys = (paddr_t)phys, .flags = map->flags};
    return map_answer(self, map, &m);
}

static long map_object(struct thread *self, struct kymo_map *map)
{
    struct mapping m;
    int error = object_map(self->proc, map, &m);

    if (error) {
        return error;
    }
    map->phys = process_able(self->proc, ABILITY_DEVICE) ? m.phys : 0;
    object_mapped(m.phys);
    long result = map_answer(self, map, &m);
    if (result && result != -EFAULT) { /* otherwise unmapping has traced it */
        object_unmapped(m.phys);
    }
    return result;
}

static long map_ram_begin(struct thread *self, const struct kymo_map *map)
{
    size_t rounded, align;
    int error = arch_map_shape((size_t)map->len, map->flags, &rounded, &align);

    if (error) {
        return error;
    }
    if (!quota_has(&self->proc->quota, KYMO_LIMIT_MAPPINGS, 1)) {
        return -EAGAIN;
    }
    paddr_t phys = ram_alloc(&self->proc->quota, rounded, align);
    if (!phys) {
        return -ENOMEM;
    }
    self->args[PIECE_PHYS] = phys;
    self->args[PIECE_LEN] = rounded;
    self->args[PIECE_FLAGS] = map->flags;
    self->step = 1;
    return KER_AGAIN;
}

static long map_ram_end(struct thread *self)
{
    struct kymo_map map = {.flags = (uint32_t)self->args[PIECE_FLAGS]};
    struct mapping m = {
        .len = self->args[PIECE_LEN],
        .phys = self->args[PIECE_PHYS],
        .flags = map.flags | MAPPING_OWNED,
    };
    size_t len = m.len;

    if (process_able(self->proc, ABILITY_DEVICE)) {
        /* a driver passes it to its device, which it could program with any address anyway */
        map.phys = m.phys;
    }
    long error = map_answer(self, &map, &m);
    if (error && error != -EFAULT) { /* otherwise it was mapped, and unmapping has freed it */
        ram_free(&self->proc->quota, self->args[PIECE_PHYS], len);
    }
    return error;
}

/* step: 1 + pieces cleared. */
static long map_ram_continue(struct thread *self)
{
    size_t done = (size_t)(self->step - 1) * CONFIG_CLEAR_CHUNK;
    size_t left = self->args[PIECE_LEN] - done;
    size_t n = left < CONFIG_CLEAR_CHUNK ? left : CONFIG_CLEAR_CHUNK;

    arch_clear((char *)arch_phys_to_virt(self->args[PIECE_PHYS]) + done, n);
    if (n == left) {
        return map_ram_end(self);
    }
    self->step++;
    return KER_AGAIN;
}

long ker_mem_map(struct thread *self, const uintptr_t *args)
{
    struct kymo_map map;

    if (self->step) {
        return map_ram_continue(self);
    }
    if (copy_in(self->proc, &map, args[0], sizeof(map)) ||
        !vm_user_ptr(self->proc, args[0], sizeof(map), KYMO_PROT_WRITE)) {
        return -EFAULT;
    }
    int error = mem_calls_request_check(self, &map);
    if (error) {
        return error;
    }
    switch (map.flags & KINDS) {
    case KYMO_MAP_DEVICE:
        return map_device(self, &map);
    case KYMO_MAP_TRACE:
        return map_trace(self, &map);
    case KYMO_MAP_OBJECT:
        return map_object(self, &map);
    default:
        return map_ram_begin(self, &map);
    }
}

void mem_map_abandon(struct thread *t)
{
    if (t->call == KER_MEM_MAP && (t->flags & THREAD_AGAIN)) {
        ram_free(&t->proc->quota, t->args[PIECE_PHYS], t->args[PIECE_LEN]);
    }
}

long ker_mem_unmap(struct thread *self, const uintptr_t *args)
{
    struct process *proc = self->proc;
    struct mapping *m = vm_find(proc, args[0], args[1]);

    if (!m) {
        return -EINVAL;
    }
    if (proc->lib_word && proc->lib_word - m->vaddr < m->len) {
        return -EBUSY;
    }
    vm_remove(proc, m);
    return 0;
}

/* Allows only a whole mapping of RAM that the process got by MEM_MAP or as its stack and data: not
 * its program's text, a device, an object, the trace buffers. */
static int protect_check(const struct process *proc, const struct mapping *m, const uintptr_t *args)
{
    uint32_t prot = (uint32_t)args[2];
    size_t rounded, align;

    if (!m || args[1] == 0 || args[1] > m->len || (prot & ~PROT_ALL) || !(prot & KYMO_PROT_READ) ||
        (prot & (KYMO_PROT_WRITE | KYMO_PROT_EXEC)) == (KYMO_PROT_WRITE | KYMO_PROT_EXEC)) {
        return -EINVAL;
    }
    if (arch_map_shape((size_t)args[1], m->flags, &rounded, &align) != 0 || rounded != m->len) {
        return -EINVAL;
    }
    if ((m->flags & (KINDS & ~(uint32_t)KYMO_MAP_STACK)) ||
        proc->program.text - m->vaddr < m->len) {
        return -EACCES;
    }
    bool word_here = proc->lib_word && proc->lib_word - m->vaddr < m->len;
    return word_here && !(prot & KYMO_PROT_WRITE) ? -EBUSY : 0;
}

/* Makes new text visible to instruction fetch, in pieces. step: 1 + pieces done. If another thread
 * unmaps or changes the mapping meanwhile, there is nothing left to do. */
static long protect_sync(struct thread *self, const struct mapping *m)
{
    size_t done = (size_t)(self->step - 1) * CONFIG_CLEAR_CHUNK;
    size_t left = m->len - done;
    size_t n = left < CONFIG_CLEAR_CHUNK ? left : CONFIG_CLEAR_CHUNK;

    arch_text_sync((char *)arch_phys_to_virt(m->phys) + done, n);
    if (n == left) {
        return 0;
    }
    self->step++;
    return KER_AGAIN;
}

long ker_mem_protect(struct thread *self, const uintptr_t *args)
{
    struct mapping *m = vm_find(self->proc, args[0], 0);
    int error = protect_check(self->proc, m, args);
    bool text = args[2] & KYMO_PROT_EXEC;

    if (self->step) {
        return !error && (m->flags & KYMO_PROT_EXEC) ? protect_sync(self, m) : 0;
    }
    if (error) {
        return error;
    }
    vm_protect(self->proc, m, (unsigned)args[2]);
    self->step = text ? 1 : 0;
    return text ? KER_AGAIN : 0;
}

/*
 * Registers the word that the kernel writes at each switch to a thread of this process, so its
 * mapping can't be unmapped from now on. The word's present value belongs to the caller itself.
 * Address 0 unregisters the word.
 */
long ker_lib_word(struct thread *self, const uintptr_t *args)
{
    struct process *proc = self->proc;
    uint32_t *word = NULL;

    if (args[0] % sizeof(*word)) {
        return -EINVAL;
    }
    if (args[0]) {
        word = vm_user_ptr(proc, args[0], sizeof(*word), KYMO_PROT_WRITE);
        if (!word) {
            return -EFAULT;
        }
        arch_context_set_tls(self, *word);
    }
    proc->lib_word = args[0];
    proc->lib_word_kva = word;
    return 0;
}
