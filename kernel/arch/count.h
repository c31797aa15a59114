/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The port interface: the CPU's counters of events, for D's provider cpc and its variables `cycles`
 * and `instructions` (kernel/dtrace/count). Only for ports with a folder count/. kernel/arch/cpu.h
 * explains the marks.
 *
 * A CPU has some counters of 32 bits, numbered from 0, each of which counts one event, and one of
 * 64 bits that counts cycles. If the latter has only 32 bits the port extends it, and
 * arch_count_read() must be called at least once in 2^32 cycles, which D does every second. A port
 * whose counters don't interrupt sets COUNTER_PROBES := no in its board.mk. All functions are for
 * this CPU's own counters; those that change one are called with interrupts masked. A counter that
 * has not been set is off.
 */
#ifndef KERNEL_ARCH_COUNT_H
#define KERNEL_ARCH_COUNT_H

#include "kernel/arch/cpu.h"

#define ARCH_COUNT_CYCLE 31                          /* the number of the counter of 64 bits */
enum { ARCH_COUNT_USER = 1, ARCH_COUNT_KERNEL = 2 }; /* modes in which it counts: a mask */
/* The first two events of every port's list. */
enum { ARCH_COUNT_CYCLES, ARCH_COUNT_INSTRUCTIONS };

/* Returns the name of an event, or NULL if there are no more. [cpu, count] */
const char *arch_count_name(unsigned event);
/* Returns whether this CPU reports that it has the event. [cpu, count] */
bool arch_count_has(unsigned event);
/* Returns the number of event counters; all CPUs have the same number, at most 31. 0: only cycles
 * can be counted, if at all. [cpu, count] */
unsigned arch_count_counters(void);
/* Tests whether the overflow of a counter interrupts this CPU. No counter is in use, interrupts
 * masked. [cpu, count] */
bool arch_count_interrupts(void);
/* Makes a counter count an event in these modes, from 0; modes 0: turns it off. The cycle counter
 * counts only cycles. [cpu, count] */
void arch_count_set(unsigned n, unsigned event, unsigned modes);
/* Sets an event counter, whose overflow is then cleared. [cpu, count] */
void arch_count_write(unsigned n, uint32_t value);
/* Returns a counter's value. *over: whether it has overflowed since it was set, written, or last
 * reported by this function; the value is read later than *over, and the counter may have
 * overflowed at most once. [cpu, count] */
uint64_t arch_count_read(unsigned n, bool *over);
/*
 * Enables the interrupts of these counters' overflows, a mask, and disables those of all others.
 * Such an interrupt is taken like the sampling interrupt (kernel/arch/irq.h), after it has disabled
 * all: it calls kernel_counted(), and raises the same ordinary interrupt. [cpu, count]
 */
void arch_count_open(uint32_t counters);

#endif
