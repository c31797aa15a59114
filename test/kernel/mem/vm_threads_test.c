/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lookups of user memory without the kernel lock (kernel/mem/vm_lookup.c) on CPUs that are threads,
 * under a race detector, while another CPU maps and unmaps memory of the same process. A lookup of
 * memory that stays mapped always finds it, wherever its entry moves to; what a lookup finds holds
 * what was written to that mapping, until the CPU leaves the kernel. Only CPUs that run a thread of
 * that process are interrupted for it.
 *
 * The list has room for two at first, so it grows. Red without the grace period of vm_remove(),
 * with any order of a mapping's length relaxed, with the search not repeated, and with the grace
 * left out for a process of one thread. Not seen here: the grace of a list that grows, because it
 * grows only twice, and the orders of the list's own fields, which an x86 host keeps by itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* after these: */
#include <cmocka.h>

#include "kernel/base/cpu.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/irq.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/proc.h"
#include "test/tool/threads/cpus.h"

#define TURNS 40000
#define WORDS 16 /* of a mapping, each its number */
#define LEN (WORDS * 8)
#define BASE 0x100000ul
#define MAPPINGS 5
#define RW (KYMO_PROT_READ | KYMO_PROT_WRITE)

_Thread_local struct cpu *thread_cpu;
uint64_t fake_cycles;

static struct process proc, other;
static struct thread reader = {.proc = &proc}, stranger = {.proc = &other};
static uint64_t memory[2 * MAPPINGS][WORDS]; /* a few more than there are mappings */
static uint32_t changes[MAPPINGS];           /* [a] odd: it is mapped */
static bool in_use[2 * MAPPINGS];            /* [k] */
static uint64_t found, missed;               /* [a] */
static uint32_t wrong;                       /* [a] */
static uint32_t ended;                       /* [a] CPUs that have done their turns */

static void expect(bool good)
{
    __atomic_fetch_or(&wrong, !good, __ATOMIC_RELAXED);
}

/* ---- what kernel/mem/vm.c calls ---------------------------------------------------- */

/* A CPU looks for itself, whenever it isn't in the kernel. Lock held. */
void arch_ipi(uint32_t which)
{
    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        expect(!(which >> n & 1) || cpus[n].current == &reader);
    }
}

int arch_map_shape(size_t len, unsigned flags, size_t *rounded, size_t *align)
{
    (void)flags;
    *rounded = len;
    *align = 1;
    return 0;
}

int arch_aspace_map(struct arch_aspace *as, struct mapping *m, const struct mapping_list *others)
{
    (void)others;
    (void)as;
    (void)m;
    return 0;
}

void arch_irq_window(void)
{
}

void arch_clear(void *at, size_t len)
{
    __builtin_memset(at, 0, len);
}

void arch_aspace_unmap(struct arch_aspace *as, struct mapping *m)
{
    (void)as;
    (void)m;
}

void arch_aspace_protect(struct arch_aspace *as, const struct mapping *m)
{
    (void)as;
    (void)m;
}

void arch_text_sync(const void *start, size_t len)
{
    (void)start;
    (void)len;
}

void arch_aspace_refresh(struct process *of)
{
    (void)of;
}

void arch_aspace_destroy(struct arch_aspace *as)
{
    (void)as;
}

void object_unmapped(paddr_t phys)
{
    (void)phys;
}

/* For lists that grow. */
paddr_t ram_alloc(struct quota *quota, size_t len, size_t align)
{
    (void)quota;
    return (paddr_t)aligned_alloc(align, (len + align - 1) / align * align);
}

/* Whoever has the memory next writes to it at once. */
void ram_free(struct quota *quota, paddr_t phys, size_t len)
{
    (void)quota;
    memset((void *)phys, 0xdd, len);
    if (phys >= (paddr_t)memory && phys < (paddr_t)memory + sizeof(memory)) {
        in_use[(uint64_t(*)[WORDS])phys - memory] = false;
    } else {
        free((void *)phys);
    }
}

void phys_clear(paddr_t phys, size_t len)
{
    (void)phys;
    (void)len;
}

/* ---- the CPUs ---------------------------------------------------------------------- */

static uintptr_t address_of(unsigned i)
{
    return BASE + i * 2ul * LEN;
}

/* Kernel lock held. */
static void map(unsigned i)
{
    unsigned free = 0;

    while (in_use[free]) {
        free++;
    }
    in_use[free] = true;
    for (unsigned word = 0; word < WORDS; word++) {
        memory[free][word] = i;
    }
    struct mapping m = {.vaddr = address_of(i),
                        .len = LEN,
                        .phys = (paddr_t)memory[free],
                        .flags = RW | MAPPING_OWNED};
    expect(vm_map(&proc, &m) == 0);
    __atomic_fetch_add(&changes[i], 1, __ATOMIC_SEQ_CST);
}

/* Relaxed: it must not be what orders a lookup after what was mapped. */
static uint32_t changes_now(unsigned i)
{
    return __atomic_load_n(&changes[i], __ATOMIC_RELAXED);
}

static void change(unsigned i)
{
    kernel_lock();
    if (changes_now(i) % 2) {
        __atomic_fetch_add(&changes[i], 1, __ATOMIC_SEQ_CST);
        expect(vm_unmap(&proc, address_of(i), LEN) == 0);
    } else {
        map(i);
    }
    kernel_unlock();
}

/* A call without the lock: nothing of another CPU is served in it. */
static void look(unsigned i, unsigned word)
{
    size_t len = 8;
    uintptr_t addr = address_of(i) + word * 8ul;
    uint32_t before = changes_now(i);
    const uint64_t *at =
        word % 2 ? vm_user_ptr(&proc, addr, 8, RW) : vm_user_span(&proc, addr, &len, RW);

    if (at) {
        expect(*at == i);
        arch_spin_hint();
        expect(*at == i && len == 8);
        __atomic_fetch_add(&found, 1, __ATOMIC_RELAXED);
    } else {
        expect(before % 2 == 0 || changes_now(i) != before);
        __atomic_fetch_add(&missed, 1, __ATOMIC_RELAXED);
    }
}

/* This CPU gets the other thread. */
static void switch_thread(void)
{
    kernel_lock();
    thread_cpu->current = thread_cpu->current == &reader ? &stranger : &reader;
    kernel_unlock();
}

static void cpu_main(unsigned number)
{
    uint32_t random = number + 1;

    thread_cpu = &cpus[number];
    for (unsigned n = 0; n < TURNS; n++) {
        random = random * 1664525u + 1013904223u;
        if (thread_cpu->id == 0 && n % 4 == 0) {
            change((random >> 16) % MAPPINGS);
        } else if (thread_cpu->id != 0 && n % 256 == 0) {
            switch_thread();
        } else if (thread_cpu->current == &reader || thread_cpu->id == 0) {
            look((random >> 16) % MAPPINGS, random >> 28);
        }
        cpu_ipi();
    }
    __atomic_fetch_add(&ended, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&ended, __ATOMIC_ACQUIRE) != CONFIG_CPUS) {
        cpu_ipi();
        arch_spin_hint();
    }
}

/* CPU 0 unmaps for the process itself (current is one of its threads), or another process does. */
static void run(struct thread *current, unsigned nthreads)
{
    thread_cpu = &cpus[0];
    cpus_online = (1u << CONFIG_CPUS) - 1;
    proc.nthreads = nthreads;
    found = missed = wrong = ended = 0;
    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        cpus[n].id = n;
        cpus[n].bit = 1u << n;
        cpus[n].current = n > 0 ? &reader : current;
    }
    threads_run_cpus(CONFIG_CPUS, cpu_main);
    assert_int_equal(wrong, 0);
    assert_true(found > TURNS / 4 && missed > TURNS / 4);
}

static void another_thread_unmaps(void **state)
{
    (void)state;
    run(&reader, 4);
}

static void another_process_unmaps(void **state)
{
    (void)state;
    run(&stranger, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_thread_unmaps),
        cmocka_unit_test(another_process_unmaps),
    };

    quota_init(&proc.quota, 0);
    vm_init(&proc.space);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
