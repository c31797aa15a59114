/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The port interface: the CPU's counters of events, for D's provider cpc and its variables `cycles`
 * and `instructions` (kernel/dtrace/count). Only ports with a folder count/. kernel/arch/cpu.h
 * explains the marks.
 *
 * A CPU has some counters of 32 bits, numbered from 0, each of which counts one event, and beside
 * them one of 64 bits that counts cycles. Where that one has 32 bits the port adds the others, and
 * arch_count_read() must be called at least once in 2^32 cycles, which D does every second. A port
 * whose counters interrupt nothing sets COUNTER_PROBES := no in its board.mk. All functions are for
 * this CPU's own counters; those that change one: interrupts masked. A counter that nobody has set
 * is off.
 */
#ifndef KERNEL_ARCH_COUNT_H
#define KERNEL_ARCH_COUNT_H

#include "kernel/arch/cpu.h"

#define ARCH_COUNT_CYCLE 31                          /* the number of the counter of 64 bits */
enum { ARCH_COUNT_USER = 1, ARCH_COUNT_KERNEL = 2 }; /* where it counts: a mask */
/* The first two events of every port's list. */
enum { ARCH_COUNT_CYCLES, ARCH_COUNT_INSTRUCTIONS };

/* Returns the name of an event; NULL: there are no more. [cpu, count] */
const char *arch_count_name(unsigned event);
/* Returns whether this CPU says that it has the event. [cpu, count] */
bool arch_count_has(unsigned event);
/* Returns how many counters of events there are; all CPUs have the same number, at most 31. 0:
 * nothing but cycles can be counted, if these can. [cpu, count] */
unsigned arch_count_counters(void);
/* Tries whether the overflow of a counter interrupts this CPU. No counter is in use, interrupts
 * masked. [cpu, count] */
bool arch_count_interrupts(void);
/* Has a counter count an event in these modes, from 0; modes 0: it is off. The counter of cycles
 * counts nothing else. [cpu, count] */
void arch_count_set(unsigned n, unsigned event, unsigned modes);
/* Sets a counter of events, which then hasn't overflowed. [cpu, count] */
void arch_count_write(unsigned n, uint32_t value);
/* Returns a counter's value. *over: whether it has overflowed since it was set, written, or said so
 * here; the value is of a later moment, and at most once may it have overflowed. [cpu, count] */
uint64_t arch_count_read(unsigned n, bool *over);
/*
 * Opens the interrupt of these counters' overflows, a mask, and closes that of all others. It is
 * taken like the sampling interrupt (kernel/arch/irq.h), when it has closed all: it calls
 * kernel_counted(), and raises the same ordinary interrupt. [cpu, count]
 */
void arch_count_open(uint32_t counters);

#endif
