/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions of trace/port.h that a log without optional parts needs, for one CPU without
 * processes. A real system would have its own allocator, and wake a recorder in trace_port_raise().
 */
#include "test/trace/alone/alone.h"
#include "trace/port.h"
#include "trace/ring.h"

volatile uint32_t alone_ticks = 0xfffffc00;
bool alone_exit_wanted;

static struct trace_cpu the_cpu;

struct trace_cpu *alone_cpu(void)
{
    return &the_cpu;
}

unsigned trace_port_cpu_count(void)
{
    return 1;
}

struct trace_cpu *trace_port_cpu_at(unsigned cpu)
{
    (void)cpu;
    return &the_cpu;
}

/* Blocks are freed in the order opposite to their allocation. */
void *trace_port_alloc(size_t bytes, uint64_t *paddr)
{
    static _Alignas(8) uint8_t memory[5120];
    static size_t used;

    if (bytes > sizeof(memory) - used) {
        return NULL;
    }
    void *block = memory + used;
    used += (bytes + 7) & ~(size_t)7;
    __builtin_memset(block, 0, bytes);
    *paddr = (uintptr_t)block;
    return block;
}

void trace_port_free(void *block, size_t bytes)
{
    (void)block;
    (void)bytes;
}

void trace_port_unmap_all(void *block, size_t bytes)
{
    (void)block;
    (void)bytes;
}

void trace_port_run_on_all(void (*fn)(void *arg), void *arg)
{
    uintptr_t state = trace_port_irq_save();

    fn(arg);
    trace_port_irq_restore(state);
}

void trace_port_ask_exit(unsigned cpu)
{
    (void)cpu;
    alone_exit_wanted = true;
}

bool trace_port_raise(unsigned cpu, uint32_t value)
{
    (void)cpu;
    (void)value;
    return true;
}

bool trace_port_hooked(void)
{
    return true;
}

void trace_port_buffer_freed(void)
{
}

void trace_port_user_wanted(bool wanted)
{
    (void)wanted;
}

void trace_port_window(void)
{
}

bool trace_port_exit_window(void)
{
    return true;
}

void trace_port_sites_sync(void)
{
}
