/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interface between this CPU port and its boards, in addition to kernel/arch/board.h and
 * kernel/arch/irq.h. All functions are for set-up on one CPU, or for the calling CPU's own
 * interrupts (masked).
 */
#ifndef KERNEL_ARCH_AARCH64_BOARD_H
#define KERNEL_ARCH_AARCH64_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define A64_IRQ_NONE 0xffffffffu

struct a64_region {
    uintptr_t start; /* physical */
    size_t len;
};

/* ---- the board supplies ------------------------------------------------------------ */

/* Physical addresses of the devices that the kernel itself drives; ends with len 0. */
extern const struct a64_region a64_board_devices[];
/* x0 as the loader left it: the physical address of a device tree, or 0. Set before
 * arch_board_init(), which is the first C code; the boot map is on then: 1 GB of devices at 0 and
 * the 1 GB of RAM that contains the kernel. */
extern uintptr_t a64_fdt;
/* Returns the bounds of all RAM, used or not. */
struct a64_region a64_board_ram(void);
/* Returns the MPIDR affinity of CPU n, for PSCI. */
uint64_t a64_board_mpidr(unsigned n);
/* Initialise the interrupt controller after the final map is on: once, then on each CPU. */
void a64_board_irq_init(void);
void a64_board_irq_cpu_init(unsigned n);
/* a64_board_irq_take() acknowledges this CPU's highest-priority pending interrupt, if there is one;
 * a64_board_irq_end() ends it, by its token, when it has been handled. */
struct a64_irq {
    uint32_t number; /* A64_IRQ_NONE: nothing pending */
    uint32_t token;
};
struct a64_irq a64_board_irq_take(void);
void a64_board_irq_end(uint32_t token);
/* Return the number of the virtual timer's interrupt and of the one that arch_ipi() raises. */
unsigned a64_board_irq_timer(void);
unsigned a64_board_irq_ipi(void);
/*
 * Sets up the sampling interrupt on each CPU: the physical timer's, as FIQ, above all other
 * priorities. Returns its number, or A64_IRQ_NONE if this controller signals no FIQ. Call after
 * a64_board_irq_cpu_init().
 */
unsigned a64_board_irq_sample(void);
/* Acknowledges the sampling interrupt in its FIQ handler; false if it is not (or no longer) the
 * highest-priority pending one. */
bool a64_board_fiq_take(uint32_t *token);
/* The interrupt that follows a sample: returns its number; raises it on this CPU. */
unsigned a64_board_irq_sampled(void);
void a64_board_sampled_raise(void);

#endif
