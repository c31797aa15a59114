/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CPUs of `self`: as many as this machine has, up to SELF_CPUS_MAX. See port_ops.h.
 */
#include "host/self/self.h"

#include <unistd.h>

_Thread_local struct self_thread self_thread;
unsigned char self_cpu_lock[SELF_CPUS_MAX];
static unsigned cpu_count = 1;

void self_cpus_init(void)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);

    cpu_count = online < 1 ? 1 : online > SELF_CPUS_MAX ? SELF_CPUS_MAX : (unsigned)online;
}

unsigned dtrace_port_cpu_count(void)
{
    return cpu_count;
}

/* The caller holds no CPU, or this one already. */
void dtrace_port_run_on(unsigned cpu, void (*fn)(void *arg), void *arg)
{
    unsigned before = self_thread.cpu;

    if (self_thread.depth == 0) {
        self_thread.cpu = cpu;
        self_thread.outside = __builtin_return_address(0);
    }
    uintptr_t state = dtrace_port_irq_save();
    fn(arg);
    dtrace_port_irq_restore(state);
    self_thread.cpu = before;
}

uint64_t self_thread_new_key(void)
{
    static uint64_t last;

    return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}
