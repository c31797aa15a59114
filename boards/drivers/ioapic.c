/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An I/O APIC: see ioapic.h. ISA's lines are level-triggered, too: an edge while a line is masked
 * would be lost, and the UART's line stays asserted until it is served.
 */
#include "boards/drivers/ioapic.h"

#include "boards/board.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/x86_64/board.h"

enum { SELECT = 0, WINDOW = 0x10 };
enum { VERSION = 1, REDIRECTION = 0x10 };
#define NMI 0x400u
#define ACTIVE_LOW 0x2000u
#define LEVEL 0x8000u
#define MASKED 0x10000u

static uintptr_t ioapic;           /* [I] */
static uint32_t redirections[256]; /* [I] low words, without MASKED */

static volatile uint32_t lock; /* of the two registers, which any CPU may use */

static void ioapic_lock(void)
{
    while (!arch_spin_try(&lock)) {
        arch_spin_hint();
    }
}

static void ioapic_write(unsigned index, uint32_t value)
{
    mmio_write(ioapic + SELECT, index);
    mmio_write(ioapic + WINDOW, value);
}

static uint32_t ioapic_read(unsigned index)
{
    mmio_write(ioapic + SELECT, index);
    return mmio_read(ioapic + WINDOW);
}

unsigned ioapic_init(uintptr_t base, unsigned first_low)
{
    ioapic = base;
    unsigned lines = (ioapic_read(VERSION) >> 16 & 0xff) + 1;

    for (unsigned line = 0; line < lines; line++) {
        redirections[line] = x86_line_vector(line) | LEVEL | (line >= first_low ? ACTIVE_LOW : 0);
        ioapic_write(REDIRECTION + 2 * line, redirections[line] | MASKED);
        ioapic_write(REDIRECTION + 2 * line + 1, x86_apic_id() << 24);
    }
    return lines;
}

void ioapic_mask(unsigned line)
{
    ioapic_lock();
    ioapic_write(REDIRECTION + 2 * line, redirections[line] | MASKED);
    arch_spin_release(&lock);
}

void ioapic_unmask(unsigned line)
{
    ioapic_lock();
    ioapic_write(REDIRECTION + 2 * line, redirections[line]);
    arch_spin_release(&lock);
}

void ioapic_nmi(unsigned line)
{
    redirections[line] = NMI;
    ioapic_write(REDIRECTION + 2 * line + 1, x86_apic_id() << 24);
    ioapic_unmask(line);
}
