/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interrupts for programs: InterruptAttachEvent() and its kin, and the synthetic _NTO_HOOK_TRACE.
 */
#ifndef KERNEL_INTR_H
#define KERNEL_INTR_H

#include "kernel/cpu.h"
#include "kernel/msg.h"

void intr_init(void);
/* Kernel exit work: delivers the events of the lines noted by intr_entry(). Lock held. */
void intr_deliver(struct cpu *cpu);
/* Raises the synthetic interrupt: value = index << 13 | sequence & 0x7ff; ring: which CPU's. Lock
 * held. Returns false if nobody is attached. */
bool intr_raise_trace(unsigned ring, uint32_t value);
bool intr_cancel(struct thread *t); /* INTR */

#endif
