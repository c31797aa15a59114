/* SPDX-License-Identifier: BSD-2-Clause */
/* The interrupt controllers of a BCM2836 or BCM2837: see bcm2836.h. Tested by raspi3's boots. */
#include "boards/board.h"
#include "boards/drivers/bcm2836.h"

/* The CPUs' block: registers by CPU, one word each. */
#define GPU_ROUTING 0x0c
#define TIMER_CONTROL 0x40
#define MAILBOX_CONTROL 0x50
#define IRQ_SOURCE 0x60
#define FIQ_SOURCE 0x70
#define MAILBOX_SET 0x80   /* 16 bytes a CPU */
#define MAILBOX_CLEAR 0xc0 /* likewise */

#define SOURCE_PHYSICAL_TIMER 0x02u
#define SOURCE_VIRTUAL_TIMER 0x08u
#define SOURCE_MAILBOX(n) (0x10u << (n))
#define SOURCE_GPU 0x100u
#define TIMER_FIQ(source) ((source) << 4)
#define MAILBOXES_0_AND_1 3u

/* The peripherals' block */
#define BASIC_PENDING 0x200
#define PENDING_1 0x204
#define PENDING_2 0x208
#define FIQ_CONTROL 0x20c
#define ENABLE_1 0x210 /* then ENABLE_2, ENABLE_BASIC */
#define DISABLE_1 0x21c
#define BASIC_LINES 0xffu /* the bits above are summaries of the others */

static uintptr_t local, peripherals; /* [I] */

void bcm_irq_init(uintptr_t local_block, uintptr_t peripherals_block)
{
    local = local_block;
    peripherals = peripherals_block;
    mmio_write(peripherals + FIQ_CONTROL, 0);
    for (unsigned i = 0; i < 3; i++) {
        mmio_write(peripherals + DISABLE_1 + 4 * i, 0xffffffff);
    }
    mmio_write(local + GPU_ROUTING, 0);
}

void bcm_cpu_init(unsigned n)
{
    for (unsigned mailbox = 0; mailbox < 4; mailbox++) {
        mmio_write(local + MAILBOX_CLEAR + 16 * n + 4 * mailbox, 0xffffffff);
    }
    mmio_write(local + MAILBOX_CONTROL + 4 * n, MAILBOXES_0_AND_1);
    mmio_write(local + TIMER_CONTROL + 4 * n,
               SOURCE_VIRTUAL_TIMER | TIMER_FIQ(SOURCE_PHYSICAL_TIMER));
}

static uint32_t take_peripheral(void)
{
    uint32_t pending = mmio_read(peripherals + PENDING_1);

    if (pending) {
        return (uint32_t)__builtin_ctz(pending);
    }
    pending = mmio_read(peripherals + PENDING_2);
    if (pending) {
        return 32 + (uint32_t)__builtin_ctz(pending);
    }
    pending = mmio_read(peripherals + BASIC_PENDING) & BASIC_LINES;
    return pending ? BCM_BASIC + (uint32_t)__builtin_ctz(pending) : BCM_NONE;
}

uint32_t bcm_take(unsigned n)
{
    uint32_t sources = mmio_read(local + IRQ_SOURCE + 4 * n);

    if (sources & SOURCE_VIRTUAL_TIMER) {
        return BCM_VIRTUAL_TIMER;
    }
    for (unsigned mailbox = 0; mailbox < 2; mailbox++) {
        if (sources & SOURCE_MAILBOX(mailbox)) {
            mmio_write(local + MAILBOX_CLEAR + 16 * n + 4 * mailbox, 0xffffffff);
            /* Cleared before the data that its sender stored is read. */
            __asm__ volatile("dsb sy" ::: "memory");
            return BCM_MAILBOX(mailbox);
        }
    }
    return sources & SOURCE_GPU ? take_peripheral() : BCM_NONE;
}

bool bcm_fiq_pending(unsigned n)
{
    return (mmio_read(local + FIQ_SOURCE + 4 * n) & SOURCE_PHYSICAL_TIMER) != 0;
}

static void line_write(unsigned first, unsigned irq)
{
    __asm__ volatile("dsb ish" ::: "memory");
    mmio_write(peripherals + first + irq / 32 * 4, 1u << irq % 32);
    __asm__ volatile("dsb sy" ::: "memory");
}

void bcm_mask(unsigned irq)
{
    line_write(DISABLE_1, irq);
}

void bcm_unmask(unsigned irq)
{
    line_write(ENABLE_1, irq);
}

void bcm_send(uint32_t cpus, unsigned mailbox)
{
    /* Data written for the receiver must be visible before the interrupt. */
    __asm__ volatile("dsb ishst" ::: "memory");
    for (; cpus; cpus &= cpus - 1) {
        mmio_write(local + MAILBOX_SET + 16 * (unsigned)__builtin_ctz(cpus) + 4 * mailbox, 1);
    }
}
