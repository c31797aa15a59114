/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interrupts for programs: InterruptAttachEvent() and related calls, and the synthetic
 * _NTO_HOOK_TRACE.
 */
#ifndef KERNEL_ENTRY_INTR_H
#define KERNEL_ENTRY_INTR_H

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
bool intr_trace_hooked(void);       /* True if a process is attached to it. Lock held. */
bool intr_cancel(struct thread *t); /* INTR */
/* Delivers SIGEV_INTR to this thread; NULL: -ESRCH. Its InterruptWait() set the result when it
 * blocked. */
static inline int intr_wake(struct thread *t)
{
    if (!t) {
        return -ESRCH;
    }
    if (t->state == STATE_INTR) {
        thread_wake_set(t);
    } else if (t->intr_pulses < UINT8_MAX) {
        t->intr_pulses++;
    }
    return 0;
}
/* Called when the thread has ended: its attachments' SIGEV_INTR are lost. */
void intr_thread_gone(const struct thread *t);

#endif
