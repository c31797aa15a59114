/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What this CPU port needs of a board beside kernel/arch/arch.h, and offers it. Boards get it
 * through kernel/arch/arch.h. All of it is for set-up on one CPU, or for the CPU's own interrupts
 * (masked).
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
/* What the loader left in x0: the physical address of a device tree, or 0. Set before
 * arch_board_init(), which is the first C code: the boot map is on then, 1 GB of devices at 0 and
 * the 1 GB of RAM that the kernel lies in. */
extern uintptr_t a64_fdt;
/* Bounds of RAM, whatever is in it. */
struct a64_region a64_board_ram(void);
/* MPIDR affinity of CPU n, for PSCI. */
uint64_t a64_board_mpidr(unsigned n);
/* The interrupt controller, after the final map is on: once, then on each CPU. */
void a64_board_irq_init(void);
void a64_board_irq_cpu_init(unsigned n);
/* Takes the most urgent pending interrupt of this CPU, if there is one; its end, by the token, when
 * it has been handled. */
struct a64_irq {
    uint32_t number; /* A64_IRQ_NONE: none */
    uint32_t token;
};
struct a64_irq a64_board_irq_take(void);
void a64_board_irq_end(uint32_t token);
/* Numbers of the virtual timer's interrupt and of the one that arch_ipi() raises. */
unsigned a64_board_irq_timer(void);
unsigned a64_board_irq_ipi(void);
/*
 * The sampling interrupt, on each CPU: the physical timer's, as FIQ, more urgent than all others.
 * Its number, or A64_IRQ_NONE: this controller signals no FIQ. After a64_board_irq_cpu_init().
 */
unsigned a64_board_irq_sample(void);
/* Takes it in its FIQ; false: it is not (any more) what is most urgent. */
bool a64_board_fiq_take(uint32_t *token);
/* The interrupt that comes behind a sample: its number; raises it on this CPU. */
unsigned a64_board_irq_sampled(void);
void a64_board_sampled_raise(void);

#endif
