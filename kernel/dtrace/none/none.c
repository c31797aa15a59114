/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel without D (make D=0): stubs of the functions that the rest of the kernel calls, except
 * those of retained.c. */
#include "abi/errno.h"
#include "kernel/arch/entry.h"
#include "kernel/dtrace/dtrace.h"
#include "kernel/dtrace/fbt_table.h"
#include "kernel/base/kercall.h"
#include "kernel/proc/proc.h"
#include "kernel/observe/observe.h"

long ker_dtrace(struct thread *self, const uintptr_t *args)
{
    (void)self;
    (void)args;
    return -ENOSYS;
}

void kernel_d_init(void)
{
}

unsigned dtrace_paid_by(const struct process *proc, size_t *bytes)
{
    (void)proc;
    (void)bytes;
    return 0;
}

bool dtrace_log_dump(unsigned part)
{
    (void)part;
    return false;
}

bool dtrace_log_notes_of(unsigned i, uint32_t *id, const void **bytes, uint32_t *n)
{
    (void)i;
    (void)id;
    (void)bytes;
    (void)n;
    return false;
}

void dtrace_boot_again(void)
{
}

bool dtrace_process_gone(struct process *proc)
{
    (void)proc;
    return false;
}

void dtrace_raise_now(const struct cpu *cpu)
{
    (void)cpu;
}

void dtrace_sample_now(struct cpu *cpu)
{
    (void)cpu;
}

void kernel_sample(uintptr_t ip, uintptr_t lr, const uintptr_t *stack, unsigned words)
{
    (void)ip;
    (void)lr;
    (void)stack;
    (void)words;
}

void dtrace_syscall_entry(const struct thread *self)
{
    (void)self;
}

void dtrace_syscall_return(const struct thread *self)
{
    (void)self;
}

int trace_port_gate(const char *name, struct kymo_trace_refusal *why)
{
    (void)why;
    return name ? -ENOSYS : 0;
}

bool trace_port_passes(unsigned site, unsigned number, const uint64_t *words)
{
    (void)site;
    (void)number;
    (void)words;
    return true;
}
