/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of memory objects, and their lifetime: see object.h. Kernel lock held. Memory belongs
 * to its object as soon as it is allocated, cleared or not, so that a caller's death can't leak it.
 *
 * object_map() refuses: EBADF (not open), ENXIO (no memory yet, or less than requested), EACCES
 * (writing an object opened for reading), EINVAL (rights other than read, or read and write), EBUSY
 * (this process has it mapped: on an MPU a second mapping would be at the same address; or the
 * event log's buffers are in it, and writing is requested). Tested by
 * test/unit_kernel/object_test.c.
 */
#include "kernel/arch/aspace.h"
#include "kernel/mem/object.h"

#include "abi/errno.h"
#include "kernel/mem/object_table.h"
#include "kernel/proc/process.h"

struct object objects[CONFIG_OBJECTS];

_Static_assert(CONFIG_OBJECTS <= OBJECT_NUMBER, "an object's number fits in an open one's byte");

struct object *object_of(const struct process *proc, uintptr_t id)
{
    unsigned entry = id < CONFIG_OBJECTS_PER_PROCESS ? proc->objects[id] & OBJECT_NUMBER : 0;

    kernel_assert(entry == 0 || (objects[entry - 1].used && objects[entry - 1].opens > 0));
    return entry ? &objects[entry - 1] : NULL;
}

void object_check(struct object *object)
{
    kernel_assert(object->used);
    if (object->named || object->opens || object->maps || object->tracing) {
        return;
    }
    if (object->phys) {
        phys_free(object->phys, object->len);
    }
    object->phys = 0;
    object->used = false;
}

static struct object *object_at(paddr_t phys)
{
    for (unsigned i = 0; i < CONFIG_OBJECTS; i++) {
        if (objects[i].used && objects[i].phys == phys) {
            return &objects[i];
        }
    }
    return NULL;
}

void object_mapped(paddr_t phys)
{
    kernel_assert(object_at(phys));
    object_at(phys)->maps++;
}

void object_unmapped(paddr_t phys)
{
    struct object *object = object_at(phys);

    kernel_assert(object && object->maps > 0);
    object->maps--;
    object_check(object);
}

void object_process_gone(struct process *proc)
{
    kernel_assert(proc->space.nmaps == 0);
    for (unsigned id = 0; id < CONFIG_OBJECTS_PER_PROCESS; id++) {
        object_close(proc, id);
    }
    for (unsigned i = 0; i < CONFIG_OBJECTS; i++) {
        if (objects[i].creator == proc->pid) {
            objects[i].creator = 0;
        }
    }
}

int object_close(struct process *proc, uintptr_t id)
{
    struct object *object = object_of(proc, id);

    if (!object) {
        return -EBADF;
    }
    proc->objects[id] = 0;
    object->opens--;
    object_check(object);
    return 0;
}

bool object_holds(paddr_t pa, size_t bytes)
{
    for (unsigned i = 0; i < CONFIG_OBJECTS; i++) {
        const struct object *object = &objects[i];
        if (object->phys && object->phys < pa + bytes && pa < object->phys + object->len) {
            return true;
        }
    }
    return false;
}

static bool is_mapped(const struct process *proc, paddr_t phys)
{
    for (unsigned i = 0; i < proc->space.nmaps; i++) {
        const struct mapping *m = &proc->space.maps[i];
        if ((m->flags & KYMO_MAP_OBJECT) && m->phys == phys) {
            return true;
        }
    }
    return false;
}

int object_map(const struct process *proc, const struct kymo_map *map, struct mapping *m)
{
    uintptr_t id = (uintptr_t)map->phys;
    const struct object *object = id == map->phys ? object_of(proc, id) : NULL;
    bool write = map->flags & KYMO_PROT_WRITE;

    if (!object) {
        return -EBADF;
    }
    if (!(map->flags & KYMO_PROT_READ) || (map->flags & KYMO_PROT_EXEC)) {
        return -EINVAL;
    }
    if (write && !(proc->objects[id] & OBJECT_WRITABLE)) {
        return -EACCES;
    }
    if (!object->len || object->cleared < object->len || map->len > object->len) {
        return -ENXIO;
    }
    if (is_mapped(proc, object->phys) || (write && object->tracing)) {
        return -EBUSY;
    }
    *m = (struct mapping){.len = object->len, .phys = object->phys, .flags = map->flags};
    return 0;
}
