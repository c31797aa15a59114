/* SPDX-License-Identifier: BSD-2-Clause */
/* Stand-ins for kernel/entry/crash.c: there is no crash, so no thread that prints it. */
#include "kernel/entry/crash.h"
#include "test/kernel/world/world.h"

long crash_step(struct thread *self)
{
    broken("crash report by thread %d", (int)self->tid);
}

void crash_abandon(struct thread *t)
{
    (void)t;
}

void arch_context_init_kernel(struct thread *t)
{
    broken("thread %d of the kernel", (int)t->tid);
}
