/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Notifications of the trace by the kernel: boot, ends of processes and hooks, the state dump's
 * queries. Contexts and contracts: trace/trace.h. Tested by test/trace/owner_test.c.
 */
#include "trace/trace.h"

#include "trace/control.h"
#include "trace/gate.h"

void trace_init(void)
{
    trace_state.policy = TRACE_LINEAR;
    trace_state.overwrite = true;
}

void trace_cpu_init(struct trace_cpu *cpu, unsigned id)
{
    *cpu = (struct trace_cpu){.id = id, .high_water = TRACE_HIGH_WATER};
    cpu->cpu_bits = (uint64_t)id << TRACE_CPU_SHIFT;
    cpu->cursor = &cpu->none[1];
    cpu->wrap = 1ull << 32;
    cpu->ring.active = TRACE_NONE;
}

bool trace_running(void)
{
    return trace_state.running;
}

uint32_t trace_starts(void)
{
    return trace_state.starts;
}

void trace_owner_gone(void *owner)
{
    struct trace_consumer *log = &trace_state.log;

    if (!log->block || !owner || log->owner != owner) {
        return;
    }
    trace_consumer_orphan(log);
    if (trace_state.policy != TRACE_RING) {
        trace_state_stop();
        trace_gate_close(); /* a ring keeps running, with its gate */
    }
    trace_port_buffer_freed();
}

void trace_hook_detached(void)
{
    if (trace_state.policy == TRACE_LINEAR) {
        trace_state_stop();
    }
}

/* Doesn't wait for room in a ring, which never lacks it, nor for a fill buffer, whose wait would
 * never end. DUMP_SLOTS fit one process's dump; a larger dump may overrun. With few and small
 * buffers all but one must be FREE. */
bool trace_dump_room(void)
{
    enum { DUMP_SLOTS = 512 };
    const struct trace_cpu *cpu = trace_port_cpu();
    size_t others = (size_t)(trace_state.log.per_cpu - 1) * TRACE_BUFFER_SLOTS;
    size_t room = (size_t)trace_ring_free(&cpu->ring) * TRACE_BUFFER_SLOTS;

    room += cpu->end ? (size_t)(cpu->end - cpu->cursor) : 0;
    return !trace_state.running || trace_state.policy != TRACE_LINEAR ||
           room >= (others < DUMP_SLOTS ? others : DUMP_SLOTS);
}

void *trace_buffers(uint64_t *paddr, uint64_t *bytes)
{
    *paddr = trace_state.log.paddr;
    *bytes = trace_state.log.bytes;
    return trace_state.log.block;
}
