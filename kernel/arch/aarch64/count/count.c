/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * AArch64: the performance monitors, PMUv3 (Arm DDI 0487, D7). Their overflow is an FIQ, like the
 * sampling interrupt (sample.c), on boards that support it. All counters are off at boot, and
 * programs can't read them. Tested by test/board/counters.py.
 */
#include "kernel/arch/aarch64/port.h"
#include "kernel/arch/assert.h"
#include "kernel/arch/count.h"
#include "kernel/arch/entry.h"

#define DFR0_PMUVER(dfr0) ((dfr0) >> 8 & 15) /* 15: monitors other than PMUv3 */
#define PMCR_ENABLE 1u
#define PMCR_LONG_CYCLES 0x40u /* the counter of cycles overflows at 64 bits */
#define PMCR_COUNTERS(pmcr) ((pmcr) >> 11 & 31)
#define TYPE_NOT_KERNEL 0x80000000u /* EL1 */
#define TYPE_NOT_USER 0x40000000u   /* EL0 */

/* Common events (D7.11.3), with perf's and Solaris's names. */
static const struct {
    const char *name;
    uint16_t number;
} events[] = {
    [ARCH_COUNT_CYCLES] = {"cycles", 0x11},
    [ARCH_COUNT_INSTRUCTIONS] = {"instructions", 0x08},
    {"l1i-misses", 0x01},
    {"itlb-misses", 0x02},
    {"l1d-misses", 0x03},
    {"l1d-accesses", 0x04},
    {"dtlb-misses", 0x05},
    {"loads", 0x06},
    {"stores", 0x07},
    {"exceptions", 0x09},
    {"branches", 0x0c},
    {"branch-misses", 0x10},
    {"branches-predicted", 0x12},
    {"memory-accesses", 0x13},
    {"l2d-accesses", 0x16},
    {"l2d-misses", 0x17},
    {"bus-accesses", 0x19},
};
enum { EVENTS = sizeof(events) / sizeof(events[0]) };

static bool count_there(void)
{
    unsigned version = DFR0_PMUVER(a64_read_sysreg(id_aa64dfr0_el1));

    return version != 0 && version != 15;
}

void a64_count_cpu_init(void)
{
    if (count_there()) {
        a64_write_sysreg(pmuserenr_el0, 0);
        a64_write_sysreg(pmcr_el0, PMCR_LONG_CYCLES);
        a64_write_sysreg(pmcntenclr_el0, 0xffffffff);
        a64_write_sysreg(pmintenclr_el1, 0xffffffff);
        a64_write_sysreg(pmovsclr_el0, 0xffffffff);
    }
}

const char *arch_count_name(unsigned event)
{
    return event < EVENTS ? events[event].name : NULL;
}

bool arch_count_has(unsigned event)
{
    return count_there() && event < EVENTS &&
           (a64_read_sysreg(pmceid0_el0) >> events[event].number & 1);
}

unsigned arch_count_counters(void)
{
    return count_there() ? PMCR_COUNTERS(a64_read_sysreg(pmcr_el0)) : 0;
}

/* An FIQ that is masked meanwhile stays pending, so the line can be observed at the controller. */
bool arch_count_interrupts(void)
{
    if (arch_count_counters() == 0 || a64_board_irq_count() == A64_IRQ_NONE) {
        return false;
    }
    __asm__ volatile("msr daifset, #1" ::: "memory");
    a64_write_sysreg(pmcr_el0, PMCR_LONG_CYCLES | PMCR_ENABLE);
    a64_write_sysreg(pmovsset_el0, 1);
    a64_write_sysreg(pmintenset_el1, 1);
    a64_isb();
    bool came = a64_board_count_pending();
    a64_count_cpu_init();
    a64_isb();
    __asm__ volatile("msr daifclr, #1" ::: "memory");
    return came;
}

static void count_select(unsigned n)
{
    a64_write_sysreg(pmselr_el0, n);
    a64_isb();
}

void arch_count_set(unsigned n, unsigned event, unsigned modes)
{
    kernel_assert(a64_irq_masked() && (n == ARCH_COUNT_CYCLE || n < arch_count_counters()));
    a64_write_sysreg(pmcntenclr_el0, 1u << n);
    a64_write_sysreg(pmintenclr_el1, 1u << n);
    a64_isb();
    if (modes) {
        count_select(n);
        a64_write_sysreg(pmxevtyper_el0, (n == ARCH_COUNT_CYCLE ? 0 : events[event].number) |
                                             (modes & ARCH_COUNT_KERNEL ? 0 : TYPE_NOT_KERNEL) |
                                             (modes & ARCH_COUNT_USER ? 0 : TYPE_NOT_USER));
        if (n == ARCH_COUNT_CYCLE) {
            a64_write_sysreg(pmccntr_el0, 0);
            a64_write_sysreg(pmovsclr_el0, 1u << n);
        } else {
            arch_count_write(n, 0);
        }
        a64_write_sysreg(pmcntenset_el0, 1u << n);
    }
    uint64_t enable = a64_read_sysreg(pmcntenset_el0) ? PMCR_ENABLE : 0;
    a64_write_sysreg(pmcr_el0, PMCR_LONG_CYCLES | enable);
    a64_isb();
}

void arch_count_write(unsigned n, uint32_t value)
{
    count_select(n);
    a64_write_sysreg(pmxevcntr_el0, value);
    a64_write_sysreg(pmovsclr_el0, 1u << n);
    a64_isb();
}

uint64_t arch_count_read(unsigned n, bool *over)
{
    *over = false;
    if (n == ARCH_COUNT_CYCLE) {
        a64_isb();
        return a64_read_sysreg(pmccntr_el0);
    }
    count_select(n);
    uint64_t value = a64_read_sysreg(pmxevcntr_el0);
    if (a64_read_sysreg(pmovsset_el0) & 1u << n) {
        a64_write_sysreg(pmovsclr_el0, 1u << n);
        a64_isb();
        value = a64_read_sysreg(pmxevcntr_el0);
        *over = true;
    }
    return (uint32_t)value;
}

void arch_count_open(uint32_t counters)
{
    a64_write_sysreg(pmintenclr_el1, ~counters);
    a64_write_sysreg(pmintenset_el1, counters);
    a64_isb();
}

/* In the FIQ: the line is deasserted before the interrupt ends. */
void a64_count_taken(uintptr_t ip, uintptr_t lr, const uintptr_t *stack, unsigned words)
{
    a64_write_sysreg(pmintenclr_el1, 0xffffffff);
    a64_isb();
    kernel_counted(ip, lr, stack, words);
}
