/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The event log's buffers in a memory object: see object.h. Kernel lock held. The buffers keep the
 * object alive; without name and users it is freed with them. Tested by
 * test/unit_kernel/object_test.c and test/boot (suite memory).
 */
#include "abi/errno.h"
#include "kernel/arch/aspace.h"
#include "kernel/mem/object_table.h"
#include "kernel/proc/process.h"

static struct object *offered; /* [k] within one kernel call */

int object_offer(const struct process *proc, uintptr_t id, size_t bytes)
{
    struct object *object = object_of(proc, id);
    size_t len, align;

    if (!object) {
        return -EBADF;
    }
    if (!(proc->objects[id] & OBJECT_WRITABLE)) {
        return -EACCES;
    }
    if (!object->len || object->cleared < object->len) {
        return -ENXIO;
    }
    if (arch_map_shape(bytes, KYMO_PROT_READ | KYMO_MAP_TRACE, &len, &align) ||
        len != object->len) {
        return -EINVAL;
    }
    if (object->maps) {
        return -EBUSY;
    }
    offered = object;
    return 0;
}

void object_offer_end(void)
{
    offered = NULL;
}

/* Refuses an object that already holds buffers: the log has only one block. */
paddr_t object_trace_begin(size_t len)
{
    if (!offered || offered->len != len || offered->tracing) {
        return 0;
    }
    offered->tracing = true;
    return offered->phys;
}

bool object_trace_end(paddr_t phys)
{
    for (unsigned i = 0; i < CONFIG_OBJECTS; i++) {
        if (objects[i].tracing && objects[i].phys == phys) {
            objects[i].tracing = false;
            object_check(&objects[i]);
            return true;
        }
    }
    return false;
}
