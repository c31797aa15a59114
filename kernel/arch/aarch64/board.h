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
/* Physical addresses of the devices that a driver process may map: no DMA, no clocks, no power, no
 * flash. Ends with len 0. */
extern const struct a64_region a64_board_driver_devices[];
/*
 * The boot map, which is on from the first instructions until the kernel has made its own (mmu.c):
 * a level 1 table, with an entry for each GB of physical memory from 0 on, placed with
 * A64_BOOT_MAP. It must map the kernel's image, the RAM up to 2 MB after it, and the memory and
 * devices that arch_board_init() accesses. A GB with both RAM and devices is a level 2 table of 512
 * such entries of 2 MB each, entered as (uintptr_t)table - KERNEL_VIRT + A64_BOOT_TABLE.
 */
extern uint64_t a64_boot_l1[512];
#define A64_BOOT_MAP __attribute__((section(".data.boot_l1"), aligned(4096)))
#define A64_BOOT_NORMAL 0x705ul            /* + address: RAM (MAIR_NORMAL, inner shareable) */
#define A64_BOOT_DEVICE 0x60000000000401ul /* + address: devices (MAIR_DEVICE), never executed */
#define A64_BOOT_TABLE 3ul
/* Returns the bounds of all RAM, used or not. */
struct a64_region a64_board_ram(void);
/* Initialise the interrupt controller after the final map is on: once, then on each CPU. */
void a64_board_irq_init(void);
void a64_board_irq_cpu_init(unsigned n);
/* a64_board_irq_take() acknowledges this CPU's highest-priority pending interrupt, if there is one;
 * a64_board_irq_end() ends it, by its token, when it has been handled. */
struct a64_irq {
    uint32_t number; /* A64_IRQ_NONE: none is pending */
    uint32_t token;
};
struct a64_irq a64_board_irq_take(void);
void a64_board_irq_end(uint32_t token);
/* Returns whether this CPU has taken an interrupt that it has not ended yet: an IRQ, or an FIQ,
 * which may interrupt an IRQ's handler. */
bool a64_board_irq_taken(void);
/* Return the number of the virtual timer's interrupt and of the one that arch_ipi() raises. */
unsigned a64_board_irq_timer(void);
unsigned a64_board_irq_ipi(void);
/*
 * Sets up the sampling interrupt on each CPU: the physical timer's, as FIQ, above all other
 * priorities. Returns its number, or A64_IRQ_NONE if this controller signals no FIQ. Call after
 * a64_board_irq_cpu_init().
 */
unsigned a64_board_irq_sample(void);
/* Likewise for the counters' overflow (kernel/arch/count.h), which is an FIQ, too; A64_IRQ_NONE:
 * the board has none. The second returns whether it is pending on this CPU. */
unsigned a64_board_irq_count(void);
bool a64_board_count_pending(void);
/* Returns whether this is the number of one of the two FIQs. */
bool a64_board_irq_is_fiq(unsigned number);
/* Acknowledges one of the two in the FIQ's handler and returns its number, or A64_IRQ_NONE if none
 * is (any longer) the highest-priority pending interrupt. */
unsigned a64_board_fiq_take(uint32_t *token);
/* The interrupt that follows a sample: the first returns its number; the second raises it on this
 * CPU. */
unsigned a64_board_irq_sampled(void);
void a64_board_sampled_raise(void);

/* ---- the board may use ------------------------------------------------------------- */

/* The registers that the loader left on CPU 0; set before arch_board_init(), the first C code,
 * which runs on the boot map. x0 is by convention the physical address of a device tree, or 0. The
 * kernel itself runs at EL1, at whatever level it was started. */
extern uintptr_t a64_loader_x0;
extern uint64_t a64_started_at_el2;
/* The start address of another CPU for arch_cpu_start(): at the physical address, with the MMU off,
 * at EL2 or EL1, and the CPU's number in x0. */
void a64_secondary(void);
/* Ends the emulator with this exit status, by semihosting. Returns if there is none. */
void a64_host_exit(int status);
/* Stops this CPU. */
void a64_stop(void) __attribute__((noreturn));

#endif
