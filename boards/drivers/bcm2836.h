/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The interrupt controllers of a BCM2836 or BCM2837 (Raspberry Pi 2 and 3): the CPUs' own (QA7),
 * and, connected to it, that of the peripherals ("ARM control logic" of the BCM2835), which serves
 * one CPU.
 *
 * Interrupts are acknowledged at neither: a line is pending as long as its device asserts it, or
 * until its mailbox is cleared. All have one priority. Numbers: 0 to 63 are those of the
 * peripherals, 64 to 71 the basic ones, and BCM_LOCAL + n the CPUs' own source n.
 */
#ifndef BOARDS_DRIVERS_BCM2836_H
#define BOARDS_DRIVERS_BCM2836_H

#include <stdbool.h>
#include <stdint.h>

#define BCM_BASIC 64 /* the first basic line */
#define BCM_LOCAL 72 /* the first of a CPU's own */
#define BCM_NONE 0xffffffffu
#define BCM_PHYSICAL_TIMER (BCM_LOCAL + 1) /* the non-secure one; bcm_cpu_init() makes it an FIQ */
#define BCM_VIRTUAL_TIMER (BCM_LOCAL + 3)
#define BCM_MAILBOX(n) (BCM_LOCAL + 4 + (n)) /* n: 0 or 1 */

/* Initializes the controllers once, on CPU 0: masks all lines of the peripherals and routes them to
 * CPU 0. local, peripherals: addresses of the two mapped register blocks. */
void bcm_irq_init(uintptr_t local, uintptr_t peripherals);
/* Enables this CPU's timers and mailboxes. Called on each CPU n. */
void bcm_cpu_init(unsigned n);
/* Returns the number of this CPU's next pending interrupt, or BCM_NONE; clears a mailbox. */
uint32_t bcm_take(unsigned n);
/* Returns whether this CPU's physical timer has signalled its FIQ. Any context. */
bool bcm_fiq_pending(unsigned n);
/* For lines below BCM_LOCAL; any context. Ordered like a full barrier: a CPU that sees the line
 * masked, or unmasked, sees what this one stored before, and vice versa afterwards. */
void bcm_mask(unsigned irq);
void bcm_unmask(unsigned irq);
/* Raises mailbox 0 or 1 of a set of CPUs. Any context. */
void bcm_send(uint32_t cpus, unsigned mailbox);

#endif
