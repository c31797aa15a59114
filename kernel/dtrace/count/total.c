/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * D's variables `cycles` and `instructions`: the numbers that the CPU counted while it ran the
 * current thread, in programs and in the kernel. While a consumer uses one of them its counter runs
 * on all CPUs, and each switch of threads adds the count since the previous switch to the thread
 * that leaves (kernel/thread/counts/kept.h). A 32-bit counter is extended to 64 bits by this file,
 * or by the port: it is read at least once per second, and may overflow once in that time.
 *
 * Control: kernel lock. dtrace_port_counter(): probe context, own CPU. Tested by
 * test/kernel/dtrace/count/count_test.c and test/board/counters.py.
 */
#include "abi/errno.h"
#include "abi/sys/dtrace.h"
#include "kernel/arch/count.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/irq.h"
#include "kernel/base/cpu.h"
#include "kernel/dtrace/count/own.h"
#include "kernel/dtrace/dtrace.h"
#include "kernel/dtrace/sample.h"
#include "kernel/thread/thread.h"
#include "kernel/time/time.h"
#include "trace/dtrace/port.h"
#include "trace/filter.h"

#define FOLD_NS 1000000000u /* 2^33 events take longer on any CPU */

/* The total of this CPU's counter, and the part of it that was counted before its thread came. */
struct total {
    uint64_t whole; /* [c] multiples of 2^32 */
    uint64_t base;  /* [c] */
};
static struct total totals[CONFIG_CPUS][DTRACE_PORT_COUNTERS];
static uint16_t users[DTRACE_PORT_COUNTERS]; /* [k] number of consumers */
static uint8_t counter_of[DTRACE_PORT_COUNTERS] = {ARCH_COUNT_CYCLE, COUNTER_NONE}; /* [k] */
/* [c] by a thread's index, accessed by the CPU that it runs on: the thread's count when it left its
 * previous CPU. Allocated at first use, and kept. */
static struct thread_total {
    uint64_t total[DTRACE_PORT_COUNTERS];
    uint16_t generation; /* of the thread to which it belongs */
} * thread_totals;
static struct timer_node folder; /* [k] */
bool counts_kept;

/* Returns the total count on this CPU. Interrupts masked. */
static uint64_t total_now(unsigned which)
{
    struct total *t = &totals[dtrace_port_cpu()][which];
    bool over;
    uint64_t value = arch_count_read(counter_of[which], &over);

    t->whole += over ? (uint64_t)1 << 32 : 0;
    return t->whole + value;
}

static struct thread_total *total_of(const struct thread *t)
{
    struct thread_total *of = &thread_totals[t->index];

    if (of->generation != t->generation) {
        *of = (struct thread_total){.generation = t->generation};
    }
    return of;
}

void counts_leave(struct thread *left)
{
    kernel_assert(kernel_locked());
    for (unsigned which = 0; which < DTRACE_PORT_COUNTERS; which++) {
        if (users[which]) {
            uint64_t now = total_now(which), *base = &totals[dtrace_port_cpu()][which].base;
            total_of(left)->total[which] += now - *base;
            *base = now;
        }
    }
}

uint64_t dtrace_port_counter(unsigned which)
{
    const struct cpu *cpu = arch_cpu();
    uintptr_t irq = arch_irq_save();
    uint64_t total = total_of(dtrace_port_thread())->total[which];

    if (!cpu->sampled || !cpu->sampled->elsewhere) {
        total += total_now(which) - totals[cpu->id][which].base;
    }
    arch_irq_restore(irq);
    return total;
}

/* ---- on and off -------------------------------------------------------------------- */

static void fold_here(void *arg)
{
    (void)arg;
    for (unsigned which = 0; which < DTRACE_PORT_COUNTERS; which++) {
        if (users[which]) {
            total_now(which);
        }
    }
}

static void fold_all(struct timer_node *node)
{
    cpu_run_on_all(fold_here, NULL);
    timer_node_start(node, arch_cycles() + clock_ns_to_cycles(FOLD_NS));
}

/* Called on each CPU. No switch is in progress there, because the caller holds the lock. */
static void total_begin(void *arg)
{
    const unsigned which = *(const unsigned *)arg;

    arch_count_set(counter_of[which], which, ARCH_COUNT_USER | ARCH_COUNT_KERNEL);
    totals[dtrace_port_cpu()][which] = (struct total){0};
}

static void total_end(void *arg)
{
    arch_count_set(counter_of[*(const unsigned *)arg], 0, 0);
}

/* Switches the site when the first consumer begins to use any of them, or the last one ends. */
static void totals_keep(bool on)
{
    if (users[0] + users[1] != 0) {
        return;
    }
    if (!on) {
        counts_kept = false;
        timer_node_stop(&folder);
    }
    dtrace_site_want(TRACE_EV_cpu_switch, on);
    trace_sites_settle();
    if (on) {
        timer_node_init(&folder, fold_all);
        timer_node_start(&folder, arch_cycles() + clock_ns_to_cycles(FOLD_NS));
        counts_kept = true;
    }
}

static int total_on(unsigned which)
{
    if (!count_event_counts(which)) {
        return -ENOTSUP;
    }
    if (!thread_totals) {
        thread_totals = dtrace_port_keep(TABLE_ENTRIES(THREADS) * sizeof(*thread_totals));
    }
    if (!thread_totals) {
        return -ENOMEM;
    }
    if (users[which] == 0) {
        if (which != ARCH_COUNT_CYCLES) {
            counter_of[which] = (uint8_t)count_take();
        }
        if (counter_of[which] == COUNTER_NONE) {
            return -EBUSY;
        }
        totals_keep(true);
        cpu_run_on_all(total_begin, &which);
    }
    users[which]++;
    return 0;
}

static void total_off(unsigned which)
{
    if (--users[which] == 0) {
        totals_keep(false);
        cpu_run_on_all(total_end, &which);
        if (which != ARCH_COUNT_CYCLES) {
            count_give(counter_of[which]);
        }
    }
}

int dtrace_port_counters(unsigned which, bool on)
{
    kernel_assert(kernel_locked());
    if (on) {
        return total_on(which);
    }
    total_off(which);
    return 0;
}
