/* SPDX-License-Identifier: BSD-2-Clause */
/* See crosscall.h. */
#include "test/tool/threads/crosscall.h"

#include <stdint.h>

enum { MOST = 8 };

_Thread_local unsigned thread_cpu;

static struct {
    void (*fn)(void *arg);
    void *arg;
    uint32_t wanted; /* [a] */
} calls[MOST];
static uint32_t ended; /* [a] CPUs that have done their turns */

void threads_serve(void)
{
    if (__atomic_load_n(&calls[thread_cpu].wanted, __ATOMIC_ACQUIRE)) {
        calls[thread_cpu].fn(calls[thread_cpu].arg);
        __atomic_store_n(&calls[thread_cpu].wanted, 0, __ATOMIC_RELEASE);
    }
}

void threads_run_on(unsigned cpu, void (*fn)(void *arg), void *arg)
{
    if (cpu == thread_cpu) {
        fn(arg);
        return;
    }
    calls[cpu].fn = fn;
    calls[cpu].arg = arg;
    __atomic_store_n(&calls[cpu].wanted, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&calls[cpu].wanted, __ATOMIC_ACQUIRE)) {
        threads_yield("cross-call");
    }
}

void threads_serve_to_the_end(unsigned cpus)
{
    __atomic_fetch_add(&ended, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&ended, __ATOMIC_ACQUIRE) != cpus) {
        threads_serve();
        threads_yield("idle");
    }
}
