/* SPDX-License-Identifier: BSD-2-Clause */
/* A thread on each CPU, and the log's buffers: see each_cpu.h. */
#include "test/board/programs/each_cpu.h"

#include <pthread.h>

#include "lib/include/kymo.h"

static pthread_t threads[CPUS_MOST];
static bool started[CPUS_MOST];
static volatile unsigned working; /* threads that are not done */
static void (*work_of_all)(unsigned cpu);
static const struct trace_slot *block;

static void *works(void *cpu)
{
    work_of_all((unsigned)(uintptr_t)cpu);
    __atomic_fetch_sub(&working, 1, __ATOMIC_RELEASE);
    return cpu;
}

void each_cpu_start(void (*work)(unsigned cpu))
{
    work_of_all = work;
    working = cpu_count();
    for (unsigned cpu = 0; cpu < cpu_end(); cpu = cpu_after(cpu)) {
        pthread_attr_t attr;
        pthread_attr_init(&attr);
        pthread_attr_setrunmask_np(&attr, UINT32_C(1) << cpu);
        int error = pthread_create(&threads[cpu], &attr, works, (void *)(uintptr_t)cpu);
        EXPECT_EQ(error, 0);
        started[cpu] = error == 0;
        if (error != 0) { /* or who waits for its work would wait for ever */
            __atomic_fetch_sub(&working, 1, __ATOMIC_RELEASE);
        }
    }
}

bool each_cpu_works(void)
{
    return __atomic_load_n(&working, __ATOMIC_ACQUIRE) > 0;
}

void each_cpu_join(void)
{
    for (unsigned cpu = 0; cpu < cpu_end(); cpu = cpu_after(cpu)) {
        EXPECT(!started[cpu] || pthread_join(threads[cpu], NULL) == 0);
    }
}

int command(unsigned cmd)
{
    return TraceEvent((int)cmd);
}

void buffers_open(unsigned count)
{
    uint64_t paddr = 0;

    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ALLOCBUFFER, count, &paddr), 0);
    buffers_map();
}

void buffers_map(void)
{
    struct kymo_map map = {.flags = KYMO_MAP_TRACE | KYMO_PROT_READ};

    EXPECT_EQ(MemMap(&map), 0);
    block = (const struct trace_slot *)(uintptr_t)map.vaddr;
}

void buffers_take(buffer_scan *scan)
{
    struct kymo_trace_buffer b;

    while (TraceEvent((int)KYMO_TRACE_TAKEBUFFER, &b) == 0) {
        scan(&b, block + (size_t)b.index * TRACE_BUFFER_SLOTS);
        EXPECT_EQ(TraceEvent((int)KYMO_TRACE_GIVEBUFFER, b.index), 0);
    }
    EXPECT_EQ(errno, EAGAIN);
}
