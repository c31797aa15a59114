/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel lock (kernel/base/cpu.c) on CPUs that are threads, under a race detector. The CPUs
 * that wait get it in the order of their numbers, before one that comes later or lets them pass;
 * a CPU that waits serves its interrupts and cross-calls, while the lock is held; what the lock
 * protects is plain data.
 *
 * Red if a CPU that waits takes the lock as soon as it is free, if arch_spin_try() takes a lock
 * that others wait for, if the one that takes it drops the others' bits, or if the spin has no
 * arch_irq_window().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* after these: */
#include <cmocka.h>

#include "kernel/base/cpu.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/irq.h"
#include "test/tool/random.h"
#include "test/tool/threads/cpus.h"

#define ROUNDS 3000
#define TURNS 20000
#define PATIENCE 2000000u

_Thread_local struct cpu *thread_cpu;
uint64_t fake_cycles;

static uint32_t wrong;                    /* [a] */
static uint64_t total;                    /* [k] how often the lock was taken */
static uint64_t total_seen;               /* [a] the same, for a CPU that has not got it */
static uint32_t waiting[CONFIG_CPUS];     /* [a] it waits: it has been in the spin */
static uint64_t seen_first[CONFIG_CPUS];  /* [c] total_seen when it began to */
static uint32_t called[CONFIG_CPUS];      /* [a] rounds whose turn it is to come */
static unsigned order[CONFIG_CPUS], came; /* [k] who had the lock, since CPU 0 let it go */

static void expect(bool good)
{
    __atomic_fetch_or(&wrong, !good, __ATOMIC_RELAXED);
}

/* ---- what kernel/base/cpu.c calls -------------------------------------------------- */

/* Between any two looks of a CPU that waits, so its bit is set. */
void arch_irq_window(void)
{
    unsigned n = arch_cpu()->id;

    if (!__atomic_load_n(&waiting[n], __ATOMIC_RELAXED)) {
        seen_first[n] = __atomic_load_n(&total_seen, __ATOMIC_RELAXED);
        __atomic_store_n(&waiting[n], 1, __ATOMIC_RELAXED);
    }
}

void arch_ipi(uint32_t which)
{
    (void)which;
}

/* ---- in order ---------------------------------------------------------------------- */

/* False: it has not become true, however long this has waited. */
static bool comes_true(const uint32_t *word, uint32_t value)
{
    for (uint32_t n = 0; n < PATIENCE; n++) {
        if (__atomic_load_n(word, __ATOMIC_ACQUIRE) == value) {
            return true;
        }
        cpu_ipi();
        arch_spin_hint();
    }
    return false;
}

static void visited(void *arg)
{
    ((unsigned *)arg)[arch_cpu()->id]++;
}

/* CPU 0 has the lock. Lets the others come in a random order, visits them, then lets them pass: it
 * is behind them all, by whichever way. */
static void one_round(uint32_t round)
{
    unsigned line[CONFIG_CPUS], visits[CONFIG_CPUS] = {0};

    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        unsigned at = random_below(n + 1);
        line[n] = line[at];
        line[at] = n;
        __atomic_store_n(&waiting[n], 0, __ATOMIC_RELAXED);
    }
    for (unsigned i = 0; i < CONFIG_CPUS; i++) {
        if (line[i] != 0) {
            __atomic_store_n(&called[line[i]], round, __ATOMIC_RELEASE);
            expect(comes_true(&waiting[line[i]], 1));
        }
    }
    cpu_run_on_all(visited, visits);
    came = 0;
    expect(kernel_lock_wanted());
    if (round % 2) {
        kernel_lock_pass();
    } else {
        kernel_unlock();
        kernel_lock();
    }
    expect(came == CONFIG_CPUS - 1);
    for (unsigned i = 0; i < CONFIG_CPUS; i++) {
        expect(visits[i] == 1);
        expect(i == 0 || order[i - 1] == i);
    }
}

static void cpu_in_order(unsigned number)
{
    thread_cpu = &cpus[number];
    if (number == 0) {
        kernel_lock();
    }
    for (uint32_t round = 1; round <= ROUNDS && !__atomic_load_n(&wrong, __ATOMIC_RELAXED);
         round++) {
        if (number == 0) {
            one_round(round);
        } else if (comes_true(&called[number], round)) {
            kernel_lock();
            order[came++] = number;
            kernel_unlock();
        }
    }
    if (number == 0) {
        expect(!kernel_lock_wanted());
        kernel_unlock();
    }
}

/* ---- as they like ------------------------------------------------------------------ */

static void cpu_as_it_likes(unsigned number)
{
    thread_cpu = &cpus[number];
    for (unsigned n = 0; n < TURNS; n++) {
        __atomic_store_n(&waiting[number], 0, __ATOMIC_RELAXED);
        if (n % 4 != 0 || !kernel_lock_try_at(kernel_lock_at())) {
            kernel_lock();
        }
        expect(!waiting[number] || total - seen_first[number] <= 2 * (CONFIG_CPUS - 1));
        total++;
        __atomic_store_n(&total_seen, total, __ATOMIC_RELAXED);
        if (n % 3 == 0) {
            arch_spin_hint(); /* the others come meanwhile */
        }
        kernel_unlock();
    }
}

static void run(void (*cpu_main)(unsigned number))
{
    wrong = 0;
    cpus_online = (1u << CONFIG_CPUS) - 1;
    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        cpus[n].id = n;
        cpus[n].bit = 1u << n;
    }
    threads_run_cpus(CONFIG_CPUS, cpu_main);
    assert_int_equal(wrong, 0);
    assert_int_equal(kernel_lock_word, 0);
}

static void in_turn(void **state)
{
    (void)state;
    random_start();
    run(cpu_in_order);
}

static void none_is_overtaken_often(void **state)
{
    (void)state;
    run(cpu_as_it_likes);
    assert_int_equal(total, (uint64_t)TURNS * CONFIG_CPUS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_turn),
        cmocka_unit_test(none_is_overtaken_often),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
