/* SPDX-License-Identifier: BSD-2-Clause */
/* Arm GIC v2: see gicv2.h. Set-up before interrupts; the rest any context. */
#include "boards/board.h"
#include "boards/drivers/gicv2.h"

#define GICD_CTLR 0x000
#define GICD_TYPER 0x004
#define GICD_ISENABLER 0x100
#define GICD_ICENABLER 0x180
#define GICD_ICPENDR 0x280
#define GICD_IPRIORITYR 0x400
#define GICD_ITARGETSR 0x800
#define GICD_SGIR 0xf00
#define GICC_CTLR 0x00
#define GICC_PMR 0x04
#define GICC_BPR 0x08
#define GICC_IAR 0x0c
#define GICC_EOIR 0x10

#define PRIORITY 0xa0a0a0a0u /* of four lines */
#define FIRST_SPI 32
#define FIRST_SPECIAL 1020 /* numbers that stand for "none" */

static uintptr_t dist_base, cpu_base; /* [I] */
static unsigned lines;                /* [I] */
static uint8_t targets[GIC_MAX_CPUS]; /* [I] after each CPU's start: its bit in the distributor */

static uint32_t dist_read(unsigned reg)
{
    return mmio_read(dist_base + reg);
}

static void dist_write(unsigned reg, uint32_t value)
{
    mmio_write(dist_base + reg, value);
}

void gic_init(uintptr_t dist, uintptr_t cpu)
{
    dist_base = dist;
    cpu_base = cpu;
    dist_write(GICD_CTLR, 0);
    lines = ((dist_read(GICD_TYPER) & 0x1f) + 1) * 32;
    for (unsigned i = FIRST_SPI; i < lines; i += 32) {
        dist_write(GICD_ICENABLER + i / 8, 0xffffffff);
        dist_write(GICD_ICPENDR + i / 8, 0xffffffff);
    }
    for (unsigned i = FIRST_SPI; i < lines; i += 4) {
        dist_write(GICD_IPRIORITYR + i, PRIORITY);
        dist_write(GICD_ITARGETSR + i, 0x01010101);
    }
    dist_write(GICD_CTLR, 1);
}

void gic_cpu_init(unsigned n, unsigned timer)
{
    /* Private lines read as targeting the reader. One CPU alone may read as 0. */
    uint8_t self = (uint8_t)dist_read(GICD_ITARGETSR);

    targets[n] = self ? self : 1;
    dist_write(GICD_ICENABLER, 0xffff0000);
    dist_write(GICD_ICPENDR, 0xffff0000);
    for (unsigned i = 0; i < FIRST_SPI; i += 4) {
        dist_write(GICD_IPRIORITYR + i, PRIORITY);
    }
    dist_write(GICD_ISENABLER, 0xffffu | 1u << timer);
    mmio_write(cpu_base + GICC_PMR, 0xff);
    mmio_write(cpu_base + GICC_BPR, 0);
    mmio_write(cpu_base + GICC_CTLR, 1);
}

unsigned gic_lines(void)
{
    return lines;
}

void gic_mask(unsigned irq)
{
    if (irq < lines) {
        dist_write(GICD_ICENABLER + irq / 32 * 4, 1u << irq % 32);
    }
}

void gic_unmask(unsigned irq)
{
    if (irq < lines) {
        dist_write(GICD_ISENABLER + irq / 32 * 4, 1u << irq % 32);
    }
}

uint32_t gic_take(void)
{
    uint32_t token = mmio_read(cpu_base + GICC_IAR);
    return gic_number(token) >= FIRST_SPECIAL ? GIC_NONE : token;
}

unsigned gic_number(uint32_t token)
{
    return token & 0x3ff;
}

void gic_end(uint32_t token)
{
    mmio_write(cpu_base + GICC_EOIR, token);
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
