/* SPDX-License-Identifier: BSD-2-Clause */
/* Arm GIC v2: see gicv2.h. Set-up runs before interrupts are enabled; the rest in any context. */
#include "boards/board.h"
#include "boards/drivers/gicv2.h"

#define GICD_CTLR 0x000
#define GICD_TYPER 0x004
#define GICD_IGROUPR 0x080
#define GICD_ICPENDR 0x280
#define GICD_IPRIORITYR 0x400
#define GICD_ITARGETSR 0x800
#define GICD_PIDR2 0xfe8
#define GICC_CTLR 0x00
#define GICC_PMR 0x04
#define GICC_BPR 0x08

#define PRIORITY 0xa0a0a0a0u /* for four lines */
#define PRIORITY_FIQ 0x40u
#define CTLR_GROUP0 1u
#define CTLR_GROUP1 2u
#define GICC_CTLR_ACKCTL 4u /* GICC_IAR takes interrupts of both groups */
#define GICC_CTLR_FIQEN 8u  /* interrupts of group 0 are FIQs */
#define FIRST_SPI 32

uintptr_t gic_dist_base, gic_cpu_base;
static uint8_t targets[GIC_MAX_CPUS]; /* [I] after each CPU's start: its bit in the distributor */

static uint32_t dist_read(unsigned reg)
{
    return mmio_read(gic_dist_base + reg);
}

static void dist_write(unsigned reg, uint32_t value)
{
    mmio_write(gic_dist_base + reg, value);
}

bool gic_is_v2(uintptr_t dist)
{
    return (mmio_read(dist + GICD_PIDR2) >> 4 & 15) == 2;
}

unsigned gic_init(uintptr_t dist, uintptr_t cpu)
{
    gic_dist_base = dist;
    gic_cpu_base = cpu;
    dist_write(GICD_CTLR, 0);
    unsigned lines = ((dist_read(GICD_TYPER) & 0x1f) + 1) * 32;
    for (unsigned i = FIRST_SPI; i < lines; i += 32) {
        dist_write(GICD_ICENABLER + i / 8, 0xffffffff);
        dist_write(GICD_ICPENDR + i / 8, 0xffffffff);
        dist_write(GICD_IGROUPR + i / 8, 0xffffffff);
    }
    for (unsigned i = FIRST_SPI; i < lines; i += 4) {
        dist_write(GICD_IPRIORITYR + i, PRIORITY);
        dist_write(GICD_ITARGETSR + i, 0x01010101);
    }
    dist_write(GICD_CTLR, CTLR_GROUP0 | CTLR_GROUP1);
    return lines;
}

/* Puts all private lines except these into group 1. Returns false if the register reads as zero. */
static bool groups_init(uint32_t fiqs)
{
    dist_write(GICD_IGROUPR, ~fiqs);
    return dist_read(GICD_IGROUPR) == ~fiqs;
}

static void priority_raise(unsigned irq)
{
    uint32_t shift = irq % 4 * 8, before = dist_read(GICD_IPRIORITYR + irq / 4 * 4);

    dist_write(GICD_IPRIORITYR + irq / 4 * 4, (before & ~(0xffu << shift)) | PRIORITY_FIQ << shift);
}

/* Earlier code, or a reset that keeps them, may have left interrupts active: an active interrupt
 * blocks all that are not of higher priority. */
static void forget_active(void)
{
    for (unsigned i = 0; i < 16; i += 4) {
        mmio_write(gic_cpu_base + GICC_APR + i, 0);
        mmio_write(gic_cpu_base + GICC_NSAPR + i, 0);
    }
}

bool gic_private_pending(unsigned irq)
{
    return dist_read(GICD_ISPENDR) >> irq & 1;
}

bool gic_cpu_init(unsigned n, uint32_t enabled, uint32_t fiqs)
{
    /* Private lines read as targeting the reader. With a single CPU they may read as 0. */
    uint8_t self = (uint8_t)dist_read(GICD_ITARGETSR);

    targets[n] = self ? self : 1;
    dist_write(GICD_ICENABLER, 0xffffffff);
    dist_write(GICD_ICPENDR, 0xffff0000);
    for (unsigned i = 0; i < FIRST_SPI; i += 4) {
        dist_write(GICD_IPRIORITYR + i, PRIORITY);
    }
    bool groups = groups_init(fiqs);
    for (uint32_t left = groups ? fiqs : 0; left; left &= left - 1) {
        priority_raise((unsigned)__builtin_ctz(left));
    }
    dist_write(GICD_ISENABLER, groups ? enabled : enabled & ~fiqs);
    forget_active();
    mmio_write(gic_cpu_base + GICC_PMR, 0xff);
    mmio_write(gic_cpu_base + GICC_BPR, 0);
    mmio_write(gic_cpu_base + GICC_CTLR,
               groups ? CTLR_GROUP0 | CTLR_GROUP1 | GICC_CTLR_ACKCTL | GICC_CTLR_FIQEN
                      : CTLR_GROUP0);
    return groups;
}

void gic_send(uint32_t cpus, unsigned sgi)
{
    uint32_t list = 0;

    for (cpus &= (1u << GIC_MAX_CPUS) - 1; cpus; cpus &= cpus - 1) {
        list |= targets[__builtin_ctz(cpus)];
    }
    if (list) {
        /* Data written for the receiver must be visible before the interrupt. */
        __asm__ volatile("dsb ishst" ::: "memory");
        dist_write(GICD_SGIR, list << 16 | sgi);
    }
}
