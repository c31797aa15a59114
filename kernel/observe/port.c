/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Answers a CPU port's queries about the portable kernel's objects. Kernel lock held, except
 * kernel_work_pending() and kernel_ram_of_others(). Contracts: kernel/arch/entry.h. The assertions
 * cover the assumptions of the ports' assembler.
 */
#include "kernel/base/cpu.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/entry.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/proc.h"
#include "trace/trace.h"

_Static_assert(offsetof(struct thread, ctx) == 0, "the context comes first");
_Static_assert(offsetof(struct thread, args) == sizeof(struct arch_context), "then the arguments");
_Static_assert(offsetof(struct process, space.arch) == 0, "the port's part comes first");
_Static_assert(offsetof(struct cpu, trace) == 0, "kernel/arch/<cpu>/trace.h finds it there");

struct process *kernel_thread_process(const struct thread *t)
{
    return t->proc;
}

void *kernel_user_ptr(const struct thread *t, uintptr_t addr, size_t len, unsigned prot)
{
    return vm_user_ptr(t->proc, addr, len, prot);
}

/* The time of a probe firing is bounded, so at most this many of a process's mappings are examined:
 * the lowest and the highest ones, where programs and stacks are. */
enum { PART_MOST = 48, PART_LOWEST = PART_MOST / 2 };

/* Returns whether the process has a mapping with any of these bytes, among those examined. The list
 * can't be freed while one of the process's threads runs on this CPU: see vm_list.h. */
static bool has_part_of(const struct process *proc, paddr_t pa, size_t bytes)
{
    unsigned nmaps = proc->space.nmaps, skipped = nmaps > PART_MOST ? nmaps - PART_MOST : 0;

    for (unsigned i = nmaps - skipped; i > 0; i--) {
        unsigned n = i - 1 < PART_LOWEST ? i - 1 : i - 1 + skipped;
        const struct mapping *m = vm_nth(&proc->space, n);
        if (m->phys < pa + bytes && pa < m->phys + m->len) {
            return true;
        }
    }
    return false;
}

bool kernel_ram_of_others(paddr_t pa, size_t bytes)
{
    const struct thread *t = arch_cpu()->current;

    return ram_held(pa, bytes) && !(t && has_part_of(t->proc, pa, bytes));
}

void kernel_thread_stack(const struct thread *t, uintptr_t *low, uintptr_t *high)
{
    *low = t->stack_low;
    *high = t->stack_high;
}

uint32_t **kernel_lib_word(const struct thread *t)
{
    return &t->proc->lib_word_kva;
}

bool kernel_work_pending(const struct cpu *cpu)
{
    return cpu->trace.exit_work != 0;
}

struct cpu *kernel_cpu_at(unsigned n)
{
    return &cpus[n];
}

void kernel_clock_extended(void)
{
    trace_clock_wrapped(&arch_cpu()->trace);
}
