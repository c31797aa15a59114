/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interrupts for programs: InterruptAttachEvent() and related calls, and the synthetic
 * _NTO_HOOK_TRACE.
 */
#ifndef KERNEL_INTR_INTR_H
#define KERNEL_INTR_INTR_H

#include "abi/errno.h"
#include "kernel/thread/cpu.h"
#include "kernel/ipc/msg.h"

/* Kernel exit work: delivers the events of the lines noted by intr_entry(). Lock held. */
void intr_deliver(struct cpu *cpu);
/* Called when the work of this CPU's timer interrupt is done. Lock held. */
void intr_timer_done(struct cpu *cpu);
/* Raises the synthetic interrupt: value = index << 13 | sequence & 0x7ff; ring: its CPU. Lock held.
 * Returns false if nobody is attached. */
bool intr_raise_trace(unsigned ring, uint32_t value);
bool intr_trace_hooked(void); /* True if a process is attached to it. Lock held. */
/* The thread has ended: its attachments' SIGEV_INTR are lost. */
void intr_thread_gone(struct thread *t);
/* The process ends: its attachments too. */
void intr_process_gone(struct process *proc);

#endif
