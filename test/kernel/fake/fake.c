/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions of a fake port. Mappings are granules of 64 bytes at any address. */
#include <string.h>

#include "kernel/arch/aspace.h"
#include "kernel/arch/board.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/elf.h"
#include "kernel/arch/irq.h"
#include "test/kernel/fake/fake.h"

#include "abi/errno.h"
#include "kernel/observe/trace_dump.h"
#include "trace/trace.h"

struct cpu *fake_cpu = &cpus[0];
uint64_t fake_cycles;
struct thread *fake_running[CONFIG_CPUS];
bool fake_relocates;
uint32_t fake_ipis;
uintptr_t fake_next_vaddr = 0x100000;
int fake_map_error;

void fake_switch(struct thread *prev, struct thread *next)
{
    (void)prev;
    fake_running[fake_cpu->id] = next;
}

int arch_map_shape(size_t len, unsigned flags, size_t *rounded, size_t *align)
{
    (void)flags;
    *rounded = (len + FAKE_GRANULE - 1) & ~(size_t)(FAKE_GRANULE - 1);
    *align = FAKE_GRANULE;
    return *rounded < len ? -ENOMEM : 0;
}

int arch_aspace_create(struct arch_aspace *as)
{
    as->mapped = 0;
    return 0;
}

void arch_aspace_destroy(struct arch_aspace *as)
{
    (void)as;
}

int arch_aspace_map(struct arch_aspace *as, struct mapping *m, const struct mapping_list *others)
{
    (void)others;
    if (fake_map_error) {
        return fake_map_error;
    }
    if (!m->vaddr) {
        m->vaddr = fake_next_vaddr;
        fake_next_vaddr += m->len + FAKE_GRANULE;
    }
    as->mapped++;
    return 0;
}

void arch_clear(void *at, size_t len)
{
    memset(at, 0, len);
}

void arch_aspace_unmap(struct arch_aspace *as, struct mapping *m)
{
    (void)m;
    as->mapped--;
}

void arch_aspace_protect(struct arch_aspace *as, const struct mapping *m)
{
    (void)as;
    (void)m;
}

void arch_aspace_refresh(struct process *proc)
{
    (void)proc;
}

void arch_text_sync(const void *start, size_t len)
{
    (void)start;
    (void)len;
}

bool arch_elf_relocates(void)
{
    return fake_relocates;
}

int arch_elf_reloc_kind(unsigned r_type)
{
    return r_type == 2 ? ELF_RELOCATE_WORD : r_type == 40 ? 0 : -ENOEXEC;
}

void arch_ipi(uint32_t mask)
{
    fake_ipis |= mask;
}

void arch_irq_window(void)
{
}

void (*fake_window)(void);

void kernel_window(void)
{
    if (fake_window) {
        fake_window();
    }
}

uint64_t arch_wall_clock(void)
{
    return 0;
}

unsigned arch_cpu_count(void)
{
    return CONFIG_CPUS;
}

uint64_t arch_clock_hz(void)
{
    return 1000000;
}

struct process *(*fake_payer)(int pid);

void fake_account(struct process *proc)
{
    quota_init(&proc->quota, 0);
    vm_init(&proc->space);
}

struct payer process_payer(const struct process *proc)
{
    return (struct payer){.pid = proc->pid, .group = proc->quota.up};
}

struct quota *process_account(struct payer payer)
{
    struct process *proc = fake_payer ? fake_payer(payer.pid) : NULL;

    return proc ? &proc->quota : payer.group;
}

void process_refund(struct payer payer, enum kymo_limit what, size_t n)
{
    quota_release(process_account(payer), what, n);
}

bool process_able(const struct process *proc, uint32_t ability)
{
    return (proc->ability & ability) == ability;
}
