/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Enough of MemMap() and MemUnmap() to have memory come and go. MemMap()'s args: bytes, flags, and
 * in how many steps. Between these the call has memory that is in no mapping yet, as the kernel's
 * own has; whoever ends the thread then gives it back, once.
 */
#include "abi/errno.h"
#include "kernel/base/kercall.h"
#include "kernel/arch/panic.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/proc.h"
#include "kernel/thread/thread.h"
#include "test/kernel/world/world.h"

long ker_mem_map(struct thread *self, const uintptr_t *args)
{
    struct mapping m = {.len = args[0] & 0xffff, .flags = args[1] & 7};
    uint32_t steps = args[2] & 7;

    if (self->step < steps) {
        fake_maps += self->step == 0;
        self->step++;
        return KER_AGAIN;
    }
    fake_maps -= self->step != 0;
    int error = m.len ? vm_map(self->proc, &m) : -EINVAL;
    return error ? error : (long)m.vaddr;
}

void mem_map_abandon(struct thread *t)
{
    if (t->call == KER_MEM_MAP && (t->flags & THREAD_AGAIN)) {
        if (fake_maps == 0) {
            kernel_panic("thread %d of %d gives back memory twice", t->tid, t->proc->pid);
        }
        fake_maps--;
    }
}

long ker_mem_unmap(struct thread *self, const uintptr_t *args)
{
    return vm_unmap(self->proc, args[0], args[1]);
}
