/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arm Generic Interrupt Controller v2 (IHI 0048). One priority for all lines, so interrupts do not
 * preempt each other; shared lines go to CPU 0. At most 8 CPUs.
 */
#ifndef BOARDS_DRIVERS_GICV2_H
#define BOARDS_DRIVERS_GICV2_H

#include <stdint.h>

#define GIC_NONE 0xffffffffu
#define GIC_MAX_CPUS 8

/* dist, cpu: where the two register blocks are mapped. Once, by CPU 0. */
void gic_init(uintptr_t dist, uintptr_t cpu);
/* On each CPU n: its private lines (SGIs and `timer` enabled) and its interface. */
void gic_cpu_init(unsigned n, unsigned timer);
unsigned gic_lines(void);
void gic_mask(unsigned irq);   /* any context */
void gic_unmask(unsigned irq); /* any context */
/* This CPU's next interrupt: a token, or GIC_NONE. Interrupts masked. */
uint32_t gic_take(void);
unsigned gic_number(uint32_t token);
void gic_end(uint32_t token);
/* Raises a software interrupt on a set of CPUs that have passed gic_cpu_init(). */
void gic_send(uint32_t cpus, unsigned sgi);

#endif
