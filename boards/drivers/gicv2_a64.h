/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Implements all functions about interrupts that the AArch64 port and kernel/arch/irq.h require of
 * a board, for a GIC v2 with the architecture's private lines. A board that names this file in its
 * BOARD_DRIVERS supplies only a64_board_irq_init(), which calls gic_board_init(), and
 * arch_irq_name().
 */
#ifndef BOARDS_DRIVERS_GICV2_A64_H
#define BOARDS_DRIVERS_GICV2_A64_H

#include <stdint.h>

#define GIC_IRQ_IPI 0
#define GIC_IRQ_SAMPLED 1
#define GIC_IRQ_COUNT 23  /* the performance monitors' */
#define GIC_IRQ_TIMER 27  /* the virtual timer's */
#define GIC_IRQ_SAMPLE 30 /* the physical timer's */
#define GIC_FIRST_EXTERNAL 32

/* Initializes the GIC once, on CPU 0, before interrupts. dist, cpu: addresses of the two mapped
 * register blocks. */
void gic_board_init(uintptr_t dist, uintptr_t cpu);

/* The name of one of the lines above, NULL: it has none. */
const char *gic_irq_name(unsigned irq);

#endif
