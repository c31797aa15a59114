/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arm Generic Interrupt Controller v2 (IHI 0048). One priority for all lines, so interrupts do not
 * preempt each other; shared lines go to CPU 0. At most 8 CPUs. Some private lines may be FIQs:
 * they are of group 0 and of a higher priority, all others are of group 1.
 */
#ifndef BOARDS_DRIVERS_GICV2_H
#define BOARDS_DRIVERS_GICV2_H

#include "boards/board.h"

#define GIC_MAX_CPUS 8
#define GIC_SPECIAL 1020 /* numbers from here on mean "none" */

#define GICD_ISENABLER 0x100
#define GICD_ICENABLER 0x180
#define GICD_ISPENDR 0x200
#define GICD_SGIR 0xf00
#define GICD_SGIR_SELF (2u << 24)
#define GICC_IAR 0x0c
#define GICC_EOIR 0x10
#define GICC_RPR 0x14
#define GICC_RPR_IDLE 0xffu
#define GICC_HPPIR 0x18
#define GICC_APR 0xd0   /* four words: active priorities, of group 0 where there are groups */
#define GICC_NSAPR 0xe0 /* four words: of group 1 */

extern uintptr_t gic_dist_base, gic_cpu_base; /* [I] */

/* Returns whether this is a GICv2; for others no further function may be called. */
bool gic_is_v2(uintptr_t dist);
/* Initializes the controller once, on CPU 0. dist, cpu: addresses of the two mapped register
 * blocks. Returns the number of lines. */
unsigned gic_init(uintptr_t dist, uintptr_t cpu);
/* Initializes, on each CPU n, its private lines, of which the mask `enabled` is enabled, and its
 * interface. fiqs: the lines signalled as FIQs. Returns false if this GIC has no groups, or denies
 * access to them; the fiqs are then disabled. */
bool gic_cpu_init(unsigned n, uint32_t enabled, uint32_t fiqs);
/* Returns whether a private line of this CPU is pending, or active and pending. */
bool gic_private_pending(unsigned irq);

/* For a line that gic_init() counted; any context. Ordered like a full barrier: a CPU that sees the
 * line masked, or unmasked, sees what this one stored before, and vice versa afterwards. */
static inline void gic_mask(unsigned irq)
{
    __asm__ volatile("dsb ish" ::: "memory");
    mmio_write(gic_dist_base + GICD_ICENABLER + irq / 32 * 4, 1u << irq % 32);
    __asm__ volatile("dsb sy" ::: "memory");
}

static inline void gic_unmask(unsigned irq)
{
    __asm__ volatile("dsb ish" ::: "memory");
    mmio_write(gic_dist_base + GICD_ISENABLER + irq / 32 * 4, 1u << irq % 32);
    __asm__ volatile("dsb sy" ::: "memory");
}

/* Acknowledges this CPU's next interrupt: returns a token with its number, which may be a special
 * one. Interrupts masked; call gic_end() when it has been handled. */
static inline uint32_t gic_take(void)
{
    return mmio_read(gic_cpu_base + GICC_IAR);
}

static inline unsigned gic_number(uint32_t token)
{
    return token & 0x3ff;
}

/* Like gic_take(), in an FIQ, only if the next interrupt is one of these private lines. */
static inline bool gic_take_these(uint32_t lines, uint32_t *token)
{
    unsigned irq = gic_number(mmio_read(gic_cpu_base + GICC_HPPIR));

    if (irq >= 32 || !(lines >> irq & 1)) {
        return false;
    }
    *token = gic_take();
    return true;
}

static inline void gic_end(uint32_t token)
{
    mmio_write(gic_cpu_base + GICC_EOIR, token);
}

/* Returns whether this CPU has taken an interrupt that it has not ended. */
static inline bool gic_taken(void)
{
    return (mmio_read(gic_cpu_base + GICC_RPR) & GICC_RPR_IDLE) != GICC_RPR_IDLE;
}

/* Raises a software interrupt on a set of CPUs that have passed gic_cpu_init(). */
void gic_send(uint32_t cpus, unsigned sgi);
/* Like gic_send(), on this CPU. Any context, also in an FIQ. */
static inline void gic_send_self(unsigned sgi)
{
    mmio_write(gic_dist_base + GICD_SGIR, GICD_SGIR_SELF | sgi);
}

#endif
