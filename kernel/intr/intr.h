/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interrupts for programs: InterruptAttachEvent() and related calls, and the synthetic
 * _NTO_HOOK_TRACE.
 */
#ifndef KERNEL_INTR_INTR_H
#define KERNEL_INTR_INTR_H

#include "abi/errno.h"
#include "kernel/base/cpu.h"
#include "kernel/ipc/ipc.h"

/* Delivers, as work of the kernel's exit, the events of the lines noted by intr_entry(). Lock
 * held. */
void intr_deliver(struct cpu *cpu);
/* Called when the work of this CPU's timer interrupt is done. Lock held. */
void intr_timer_done(struct cpu *cpu);
/* Raises the synthetic interrupt: value = index << 13 | sequence & 0x7ff; ring: its CPU. Lock held.
 * Returns false if no process is attached. */
bool intr_raise_trace(unsigned ring, uint32_t value);
bool intr_trace_hooked(void); /* whether a process is attached to it. Lock held */
/* Called when the thread has ended: its attachments' SIGEV_INTR are lost. */
void intr_thread_gone(struct thread *t);
/* Called when the process ends: removes its attachments. */
bool intr_process_gone(struct process *proc);

/* ---- attachments of processes, also for the tests' checks -------------------------- */

/*
 * A process's request for an event at each interrupt of a line. The line is masked while any of its
 * attachments has masked > 0, and when it has none.
 */
struct attachment {
    struct attachment *next; /* [k] of the same line, in order of delivery; NULL: none */
    struct process *proc;    /* [I] NULL: free */
    uint32_t line;           /* [I] or _NTO_HOOK_TRACE */
    uint32_t masked;         /* [k] mask count: raised by each delivery and InterruptMask() */
    struct thread *thread;   /* [k] the attaching thread, for SIGEV_INTR; NULL: it has ended */
    struct sigevent event;   /* [I] */
    struct pulse pulse;      /* [k] coalesces */
};

/* the index is the attachment's id */
extern struct attachment intr_table[CONFIG_INTERRUPT_ATTACHMENTS];
#define INTR_LINES (INTR_WORDS * 32)
extern struct attachment *intr_lines[INTR_LINES]; /* [k] the first attachment of each line */
/* [k] the attachment to _NTO_HOOK_TRACE, or NULL */
extern struct attachment *intr_trace_hook;

#endif
