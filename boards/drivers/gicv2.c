/* SPDX-License-Identifier: BSD-2-Clause */
/* Arm GIC v2: see gicv2.h. Set-up before interrupts; the rest any context. */
#include "boards/board.h"
#include "boards/drivers/gicv2.h"

#define GICD_CTLR 0x000
#define GICD_TYPER 0x004
#define GICD_ICPENDR 0x280
#define GICD_IPRIORITYR 0x400
#define GICD_ITARGETSR 0x800
#define GICD_SGIR 0xf00
#define GICD_PIDR2 0xfe8
#define GICC_CTLR 0x00
#define GICC_PMR 0x04
#define GICC_BPR 0x08

#define PRIORITY 0xa0a0a0a0u /* of four lines */
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
    }
    for (unsigned i = FIRST_SPI; i < lines; i += 4) {
        dist_write(GICD_IPRIORITYR + i, PRIORITY);
        dist_write(GICD_ITARGETSR + i, 0x01010101);
    }
    dist_write(GICD_CTLR, 1);
    return lines;
}

void gic_cpu_init(unsigned n, uint32_t enabled)
{
    /* Private lines read as targeting the reader. One CPU alone may read as 0. */
    uint8_t self = (uint8_t)dist_read(GICD_ITARGETSR);

    targets[n] = self ? self : 1;
    dist_write(GICD_ICENABLER, 0xffffffff);
    dist_write(GICD_ICPENDR, 0xffff0000);
    for (unsigned i = 0; i < FIRST_SPI; i += 4) {
        dist_write(GICD_IPRIORITYR + i, PRIORITY);
    }
    dist_write(GICD_ISENABLER, enabled);
    mmio_write(gic_cpu_base + GICC_PMR, 0xff);
    mmio_write(gic_cpu_base + GICC_BPR, 0);
    mmio_write(gic_cpu_base + GICC_CTLR, 1);
}

void gic_send(uint32_t cpus, unsigned sgi)
{
    uint32_t list = 0;

    for (unsigned n = 0; n < GIC_MAX_CPUS; n++) {
        if (cpus & 1u << n) {
            list |= targets[n];
        }
    }
    if (list) {
        /* What was written for the receiver is seen before the interrupt is. */
        __asm__ volatile("dsb ishst" ::: "memory");
        dist_write(GICD_SGIR, list << 16 | sgi);
    }
}
