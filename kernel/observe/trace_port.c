/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's implementation of trace/port.h. Kernel lock held, except for the queries, which may
 * be called in any context.
 */
#include "abi/errno.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/irq.h"
#include "kernel/intr/intr.h"
#include "kernel/base/kercall.h"
#include "kernel/mem/mem.h"
#include "kernel/base/string.h"
#include "kernel/observe/trace_dump.h"
#include "kernel/base/cpu.h"
#include "kernel/base/window.h"
#include "trace/filter.h"
#include "trace/trace.h"

unsigned trace_port_cpu_count(void)
{
    return arch_cpu_count();
}

struct trace_cpu *trace_port_cpu_at(unsigned cpu)
{
    return &cpus[cpu].trace;
}

uint64_t trace_port_thread(void)
{
    const struct cpu *cpu = arch_cpu();
    const struct thread *t = cpu->current ? cpu->current : cpu->idle;

    return (uint64_t)(uint32_t)t->proc->pid << 32 | (uint32_t)t->tid;
}

/* The blocks for which a process pays: the log's buffers and their descriptors. They may outlive
 * the process. */
static struct {
    const void *block; /* NULL: it is being allocated */
    size_t bytes;      /* 0: free */
    struct payer payer;
} paid[2];                          /* [k] */
static const struct process *payer; /* [k] pays for present allocations; NULL: none */

void trace_port_pay(const struct process *proc)
{
    payer = proc;
}

#define PAID_MOST (sizeof(paid) / sizeof(*paid))

/* Charges an allocation. Returns false if the account has no room. */
static bool port_charge(size_t bytes)
{
    unsigned i = paid[0].bytes ? 1 : 0;

    if (!payer) {
        return true;
    }
    kernel_assert(!paid[i].bytes && bytes);
    if (!quota_charge(process_account(process_payer(payer)), KYMO_LIMIT_TRACE, bytes)) {
        return false;
    }
    paid[i].bytes = bytes;
    paid[i].payer = process_payer(payer);
    return true;
}

/* Releases the charge of a block. NULL: of a block that was charged and could not be allocated. */
static void port_refund(const void *block)
{
    for (unsigned i = 0; i < PAID_MOST; i++) {
        if (paid[i].bytes && paid[i].block == block) {
            process_refund(paid[i].payer, KYMO_LIMIT_TRACE, paid[i].bytes);
            paid[i].block = NULL;
            paid[i].bytes = 0;
        }
    }
}

static void port_charged(const void *block)
{
    if (!block) {
        port_refund(NULL);
    }
    for (unsigned i = 0; i < PAID_MOST; i++) {
        if (paid[i].bytes && !paid[i].block) {
            paid[i].block = block;
        }
    }
}

size_t trace_paid_by(int32_t pid)
{
    size_t bytes = 0;

    kernel_assert(kernel_locked());
    for (unsigned i = 0; i < PAID_MOST; i++) {
        bytes += paid[i].payer.pid == pid ? paid[i].bytes : 0;
    }
    return bytes;
}

void *trace_port_alloc(size_t bytes, uint64_t *paddr)
{
    size_t rounded, align;

    if (arch_map_shape(bytes, KYMO_PROT_READ | KYMO_MAP_TRACE, &rounded, &align)) {
        return NULL;
    }
    paddr_t pa = object_trace_begin(rounded);
    if (pa) {
        phys_clear(pa, rounded);
    } else if (port_charge(rounded)) {
        pa = phys_alloc(rounded, align);
        port_charged(pa ? arch_phys_to_virt(pa) : NULL);
    }
    if (!pa) {
        return NULL;
    }
    *paddr = pa;
    return arch_phys_to_virt(pa);
}

void trace_port_free(void *block, size_t bytes)
{
    size_t rounded, align;

    arch_map_shape(bytes, KYMO_PROT_READ | KYMO_MAP_TRACE, &rounded, &align);
    if (object_trace_end(arch_virt_to_phys(block))) {
        return;
    }
    port_refund(block);
    phys_free(arch_virt_to_phys(block), rounded);
}

bool trace_port_shape(size_t bytes, size_t *rounded, size_t *align)
{
    return arch_map_shape(bytes, KYMO_PROT_READ | KYMO_MAP_TRACE, rounded, align) == 0;
}

void trace_port_clear(void *at, size_t bytes)
{
    phys_clear(arch_virt_to_phys(at), bytes);
}

void trace_port_clean(const void *at, size_t bytes)
{
    arch_cache_clean(at, bytes);
}

static void unmap_from(struct process *proc, paddr_t pa)
{
    for (unsigned i = proc->space.nmaps; i > 0; i--) {
        struct mapping *m = vm_nth(&proc->space, i - 1);
        if (m->phys == pa && (m->flags & KYMO_MAP_TRACE)) {
            vm_remove(proc, m);
        }
        if (i % 64 == 0) {
            arch_irq_window();
        }
    }
}

void trace_port_unmap_all(void *block, size_t bytes)
{
    kernel_assert(kernel_locked());
    (void)bytes;
    for (unsigned slot = 0; slot < process_slots(); slot++) {
        struct process *proc = process_in_slot(slot);
        if (proc) {
            unmap_from(proc, arch_virt_to_phys(block));
        }
    }
}

void trace_port_run_on_all(void (*fn)(void *arg), void *arg)
{
    cpu_run_on_all(fn, arg);
}

_Static_assert(offsetof(struct cpu, trace) == 0 &&
                   offsetof(struct cpu, current) == TRACE_PORT_THREAD &&
                   offsetof(struct thread, dtrace.predicate_cache) == TRACE_PORT_REMEMBERED,
               "trace_port_remembered()");
_Static_assert(ARCH_CODE_HIGH == TRACE_PORT_CODE_HIGH, "addresses of INT_ENTR");
_Static_assert(WORK_TRACE == TRACE_PORT_EXIT_WORK, "TRACE_PORT_REQUEST_EXIT() sets it");

void trace_port_ask_exit(unsigned cpu)
{
    cpu_request(&cpus[cpu], WORK_TRACE);
}

bool trace_port_raise(unsigned cpu, uint32_t value)
{
    return intr_raise_trace(cpu, value);
}

bool trace_port_hooked(void)
{
    return intr_trace_hooked();
}

void trace_port_window(void)
{
    kernel_window();
}

bool trace_port_exit_window(void)
{
    const struct cpu *cpu = arch_cpu();

    kernel_assert(kernel_locked());
    arch_irq_window();
    if (kernel_lock_wanted()) {
        kernel_lock_pass();
    }
    return !(cpu->trace.exit_work | cpu->resched);
}

void trace_port_buffer_freed(void)
{
    trace_dump_wake();
}

/* The word may have been unmapped or become read-only, so it is looked up each time. */
static void user_word_write(struct process *proc, uint32_t wanted)
{
    uint32_t *word = vm_user_ptr(proc, proc->user_word, sizeof(*word), KYMO_PROT_WRITE);

    if (word) {
        __atomic_store_n(word, wanted, __ATOMIC_RELAXED);
    } else {
        proc->user_word = 0;
    }
}

void trace_port_user_wanted(bool wanted)
{
    kernel_assert(kernel_locked());
    for (unsigned slot = 0; slot < process_slots(); slot++) {
        struct process *proc = process_in_slot(slot);
        if (proc && proc->user_word) {
            user_word_write(proc, wanted);
        }
        arch_irq_window();
    }
}

long trace_user_word(struct process *proc, uintptr_t address)
{
    kernel_assert(kernel_locked());
    if (address % sizeof(uint32_t)) {
        return -EINVAL;
    }
    proc->user_word = address;
    if (address) {
        user_word_write(proc, trace_user_wanted);
    }
    return address && !proc->user_word ? -EFAULT : 0;
}
