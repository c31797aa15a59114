/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lets one CPU change instructions that other CPUs may execute: the others wait in this file
 * meanwhile, where fbt probes nothing. Lock held. Tested by test/board, suites fbt-multi and
 * probes-multi.
 */
#include "kernel/arch/aspace.h"
#include "kernel/arch/cpu.h"
#include "kernel/base/assert.h"
#include "kernel/base/cpu.h"

struct meeting {
    void (*fn)(void *arg);
    void *arg;
    volatile uint32_t waiting; /* [a] number of CPUs that wait */
    volatile uint32_t over;    /* [a] the others may continue */
    uint32_t leader, others;   /* [k] */
};

static void cpu_meet(void *arg)
{
    struct meeting *m = arg;

    if (arch_cpu()->id != m->leader) {
        __atomic_fetch_add(&m->waiting, 1, __ATOMIC_RELEASE);
        do {
            arch_spin_hint();
        } while (!__atomic_load_n(&m->over, __ATOMIC_ACQUIRE));
        arch_text_sync(NULL, 0); /* discards instructions fetched earlier */
        return;
    }
    while (__atomic_load_n(&m->waiting, __ATOMIC_ACQUIRE) != m->others) {
        arch_spin_hint();
    }
    m->fn(m->arg);
    __atomic_store_n(&m->over, 1, __ATOMIC_RELEASE);
}

void cpu_run_alone(void (*fn)(void *arg), void *arg)
{
    kernel_assert(kernel_locked());
    struct meeting meeting = {
        .fn = fn, .arg = arg, .leader = arch_cpu()->id, .others = cpu_online_count() - 1};

    if (CONFIG_CPUS > 1 && meeting.others) {
        cpu_run_on_all(cpu_meet, &meeting);
    } else {
        fn(arg);
    }
}
