/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Offsets that trace_port_remembered() uses (kernel/arch/trace_thread.h). Compiled only to
 * assembler, like kernel/arch/<cpu>/offsets.c: scripts/board.mk turns the lines "->NAME value" into
 * the kernel's trace_offsets.h. Until that exists, kernel/observe/offsets_none.h replaces it.
 */
#include <stddef.h>

#include "kernel/base/cpu.h"
#include "kernel/thread/thread.h"

#define OFFSET(name, value) __asm__ volatile(".ascii \"->" #name " %c0\"" ::"i"(value))

void trace_offsets(void);
void trace_offsets(void)
{
    /* The offset from struct cpu, whose first member is struct trace_cpu, to the pointer to its
     * thread, and from that thread to its cached predicate. */
    OFFSET(TRACE_PORT_THREAD, offsetof(struct cpu, current));
    OFFSET(TRACE_PORT_REMEMBERED, offsetof(struct thread, dtrace.predicate_cache));
}
