/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel_panic(): the kernel itself is wrong. Any context, any lock; never returns. Says why, and
 * what ran, and stops the machine with status 101. A panic inside a panic stops at once.
 */
#include <stdarg.h>

#include "kernel/cpu.h"
#include "kernel/process.h"

#define PANIC_STATUS 101

int kvprintf(const char *fmt, va_list args); /* kernel/kprintf.c */

void kernel_panic(const char *fmt, ...)
{
    static volatile uint32_t in_panic;
    const struct thread *t = NULL;
    va_list args;

    arch_irq_save();
    if (in_panic++) {
        arch_shutdown(PANIC_STATUS);
    }
    kprintf("\nkernel panic on CPU %u: ", (unsigned)arch_cpu()->id);
    va_start(args, fmt);
    kvprintf(fmt, args);
    va_end(args);
    kprintf("\n");
    t = arch_cpu()->current;
    if (t && t->proc) {
        kprintf("current: process %d (%s), thread %d, call %u\n", (int)t->proc->pid, t->proc->name,
                (int)t->tid, (unsigned)t->call);
    }
    arch_shutdown(PANIC_STATUS);
}
