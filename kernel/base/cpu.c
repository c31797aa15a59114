/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPUs: the per-CPU structs, the slow path of the kernel lock, requests to a CPU, cross-calls.
 *
 * A cross-call waits until every CPU has run the function. No CPU can delay it for long: one in
 * user mode takes the interrupt, an idle one is woken by it, one that spins for the lock (which the
 * cross-calling CPU holds) serves it in the spin, and one in a NOLOCK call soon leaves.
 *
 * The kernel lock is one word. While no CPU waits it is 0 or 1, and costs one exclusive access to
 * take and a store to release. A CPU that can't take it at once sets its bit: from then on the word
 * isn't 0, so that no other CPU overtakes it, and the waiting CPUs get the lock in the cyclic order
 * of their numbers.
 *
 *     bits 0-7    1: a CPU has the lock
 *     bits 8-23   the CPUs that wait
 *     bits 24-31  the waiting CPU that had the lock most recently
 *
 * The last CPU that waited clears the upper bits when it takes the lock. A CPU whose turn it is
 * takes the lock the next time that it polls the word. If it doesn't poll, because it serves an
 * interrupt or is a virtual CPU that isn't running, another one takes the lock after LOCK_PATIENCE
 * polls. Tested by test/kernel/base/lock_threads_test.c.
 */
#include "kernel/base/cpu.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/irq.h"

#include "trace/hook.h"

/* Placed in memory that start-up code does not clear: retain_boot() clears it after it has saved
 * the previous kernel's data from there. */
struct cpu cpus[CONFIG_CPUS] __attribute__((section(".bss.retained")));
volatile uint32_t cpus_online;
volatile uint32_t kernel_lock_word;

static void (*xcall_fn)(void *arg); /* [k] valid while a CPU's xcall_pending is set */
static void *xcall_arg;             /* [k] */

#define WAITING_SHIFT 8
#define LAST_SHIFT 24
#define WAITING_MASK 0xffffu
_Static_assert(CONFIG_CPUS <= 16, "a bit for each CPU");
#ifndef CONFIG_LOCK_PATIENCE
#define CONFIG_LOCK_PATIENCE 4
#endif
#define LOCK_PATIENCE CONFIG_LOCK_PATIENCE

/* WORK_LOCKED is requested only with the kernel lock held, where a probe may fire; the other work
 * also by a probe. */
#define WORK_LOCKED (WORK_RESCHED | WORK_TIMER | WORK_SERVICE)

/* Other CPUs write the work word only where there are any. */
#define WORK_ORDER (CONFIG_CPUS > 1 ? __ATOMIC_ACQ_REL : __ATOMIC_RELAXED)

unsigned cpu_online_count(void)
{
    unsigned n = 0;

    for (uint32_t rest = cpus_online; rest; rest &= rest - 1) {
        n++;
    }
    return n;
}

void cpu_request(struct cpu *cpu, uint32_t work)
{
    __atomic_fetch_or(&cpu->trace.exit_work, work, WORK_ORDER);
    if (CONFIG_CPUS == 1 || cpu == arch_cpu()) {
        arch_request_exit();
    } else {
        arch_ipi(1u << cpu->id);
        if (work & WORK_LOCKED) {
            trace_site_cross_call(1);
        }
    }
}

/* Returns the bit of the first of the waiting CPUs after CPU `last`, in cyclic order. waiting is
 * not 0. */
static inline uint32_t lock_next(uint32_t waiting, unsigned last)
{
    uint32_t later = waiting & -(2u << last);
    uint32_t from = later ? later : waiting;

    return from & -from;
}

/* A waiting CPU's view of the lock, computed while another CPU has the lock, so that nothing is
 * left to compute when it is released. */
struct lock_view {
    uint32_t seen;  /* the word from which the rest was computed */
    uint32_t free;  /* the same word once released, if this CPU's turn comes then; otherwise 0 */
    uint32_t taken; /* the word by which this CPU takes the lock */
    unsigned looks; /* polls of a free lock while it was another CPU's turn */
};

static inline bool lock_take(uint32_t free, uint32_t taken)
{
    return __atomic_compare_exchange_n(&kernel_lock_word, &free, taken, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

/* Handles a word that has changed. Returns whether this CPU has the lock. */
static __attribute__((noinline)) bool lock_look(const struct cpu *cpu, struct lock_view *view,
                                                uint32_t word)
{
    uint32_t last = word >> LAST_SHIFT, waiting = word >> WAITING_SHIFT & WAITING_MASK;
    bool mine = lock_next(waiting, last) == cpu->bit;

    waiting &= ~cpu->bit;
    last = mine ? cpu->id : last;
    *view = (struct lock_view){
        .seen = word,
        .free = mine ? word & ~KERNEL_LOCK_HELD : 0,
        .taken = waiting ? last << LAST_SHIFT | waiting << WAITING_SHIFT | 1 : 1,
        .looks = view->looks,
    };
    if (word & KERNEL_LOCK_HELD) {
        view->looks = 0;
        return false;
    }
    if (!mine && ++view->looks < LOCK_PATIENCE) {
        view->seen = 0; /* so that the next poll is counted, too */
        return false;
    }
    return lock_take(word, view->taken);
}

/* From the release to this function's return no CPU has the lock. */
void kernel_lock_slow(void)
{
    const struct cpu *cpu = arch_cpu();
    struct lock_view view = {0};
    uint32_t spins = 1;

    kernel_assert(!cpu->locked);
    __atomic_fetch_or(&kernel_lock_word, cpu->bit << WAITING_SHIFT, __ATOMIC_RELAXED);
    for (;; spins++) { /* bounded: each other CPU gets the lock at most twice */
        uint32_t word = __atomic_load_n(&kernel_lock_word, __ATOMIC_RELAXED);
        if (word == view.free && lock_take(word, view.taken)) {
            break;
        }
        if (word != view.seen && lock_look(cpu, &view, word)) {
            break;
        }
        if (unlikely(__atomic_load_n(&cpu->xcall_pending, __ATOMIC_RELAXED))) {
            cpu_ipi();
        }
        arch_irq_window();
        arch_spin_hint();
    }
    trace_site_kernel_spin(spins);
}

void kernel_lock_pass(void)
{
    uint32_t word = __atomic_load_n(&kernel_lock_word, __ATOMIC_RELAXED);

    while (!__atomic_compare_exchange_n(
        &kernel_lock_word, &word, (word & ~(0xffu << LAST_SHIFT)) | arch_cpu()->id << LAST_SHIFT,
        true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    kernel_unlock();
    arch_spin_hint();
    kernel_lock();
}

void cpu_ipi(void)
{
    struct cpu *cpu = arch_cpu();

    if (CONFIG_CPUS > 1 && __atomic_load_n(&cpu->xcall_pending, __ATOMIC_ACQUIRE)) {
        xcall_fn(xcall_arg);
        cpu->xcalls_served++;
        __atomic_store_n(&cpu->xcall_pending, 0, __ATOMIC_RELEASE);
    }
}

/* Sends the cross-call to the others of these CPUs; returns their mask. */
static uint32_t xcall_send(uint32_t which)
{
    uint32_t others = cpus_online & which & ~(1u << arch_cpu()->id);

    for (uint32_t rest = others; rest; rest &= rest - 1) {
        __atomic_store_n(&cpus[__builtin_ctz(rest)].xcall_pending, 1, __ATOMIC_RELEASE);
    }
    if (others) {
        arch_ipi(others);
    }
    return others;
}

uint32_t cpu_call_others(void (*fn)(void *arg), void *arg)
{
    if (CONFIG_CPUS == 1) {
        return 0;
    }
    xcall_fn = fn;
    xcall_arg = arg;
    return xcall_send(UINT32_MAX);
}

void cpu_run_on(uint32_t which, void (*fn)(void *arg), void *arg)
{
    uint32_t others = 0;

    kernel_assert(kernel_locked());
    if (CONFIG_CPUS > 1) {
        xcall_fn = fn;
        xcall_arg = arg;
        others = xcall_send(which);
    }
    if (which >> arch_cpu()->id & 1) {
        uintptr_t state = arch_irq_save();
        fn(arg);
        arch_irq_restore(state);
    }
    for (uint32_t rest = others; rest; rest &= rest - 1) {
        struct cpu *cpu = &cpus[__builtin_ctz(rest)];
        while (__atomic_load_n(&cpu->xcall_pending, __ATOMIC_ACQUIRE)) {
            arch_spin_hint();
        }
    }
    if (others) {
        trace_site_cross_call((uint32_t)__builtin_popcount(others));
    }
}

void cpu_run_on_all(void (*fn)(void *arg), void *arg)
{
    cpu_run_on(UINT32_MAX, fn, arg);
}
