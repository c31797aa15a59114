/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The port interface: interrupts, the clock, timers. kernel/arch/cpu.h explains the marks.
 * External interrupt lines are 0..arch_irq_count()-1, the controller's own numbers.
 */
#ifndef KERNEL_ARCH_IRQ_H
#define KERNEL_ARCH_IRQ_H

#include "kernel/arch/cpu.h"

/* ---- lines ------------------------------------------------------------------------- */

/* Returns the number of external interrupt lines. [cpu or board, boot] */
unsigned arch_irq_count(void);
/* Mask and unmask a line. Ordered with earlier and later memory accesses like a full barrier. Any
 * context. ops.h may make them inline. [cpu or board, boot] */
void arch_irq_mask(unsigned irq);
void arch_irq_unmask(unsigned irq);
/* Returns true if the kernel itself uses the line (timer, IPI); such a line is never given to a
 * program. [cpu or board, boot] */
bool arch_irq_reserved(unsigned irq);
/* Returns the line's name for listings, or NULL. [board, stub] */
const char *arch_irq_name(unsigned irq);
/*
 * Waits in idle until an interrupt is pending, has intr_entry()/intr_timer()/cpu_ipi() called for
 * all pending ones, and returns. The port may mask interrupts meanwhile but handles them before it
 * returns. Lock NOT held. Returns at once if cpu->trace.exit_work became nonzero (no lost wake-up).
 * [cpu, boot]
 */
void arch_wait_for_interrupt(struct cpu *cpu);
/* Preemption point inside a long kernel operation, lock held, or while this CPU spins for the lock.
 * If the port masks interrupts in the kernel, serves the first part of the pending ones; otherwise
 * does nothing. [cpu, stub] */
void arch_irq_window(void);

/* Returns whether this CPU executes the first part of an interrupt, for D. Any context, also a
 * function probe's, interrupts masked. A stub returns false. [cpu, d] */
bool arch_in_interrupt(void);

/* ---- clock and timers -------------------------------------------------------------- */

/* Reads the trace clock: 64 bits, monotonic on each CPU, in cycles of arch_clock_hz(). Any
 * context. [inline, boot] */
static inline uint64_t arch_cycles(void);
/* Returns the trace clock's frequency. [cpu, boot] */
uint64_t arch_clock_hz(void);
/* Returns an upper bound of the clock's difference between CPUs, in cycles. [cpu, smp] */
uint64_t arch_clock_skew(void);
/*
 * Programs this CPU's timer interrupt for time `cycles` of the trace clock; for the longest time
 * the timer supports if that is earlier; at once if the time is past. UINT64_MAX: no interrupt
 * needed. The interrupt calls intr_timer(). [cpu or board, boot]
 */
void arch_timer_set(uint64_t cycles);
/*
 * The sampling interrupt, for D's provider profile. It is taken even where all other interrupts are
 * masked, except in a few instructions of the port. It calls kernel_sample() and raises an ordinary
 * interrupt of the same CPU, which calls intr_sample() as soon as the kernel unmasks interrupts.
 */
/* Returns whether the port has the sampling interrupt; valid after boot. [cpu, d] */
bool arch_sample_able(void);
/* Like arch_timer_set(), for this CPU's sampling interrupt. One-shot. [cpu, d] */
void arch_sample_set(uint64_t cycles);

#endif
