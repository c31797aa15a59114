/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Determines this machine's counters: those that the CPU reports, and whether they count and
 * interrupt, which is tried once, when a D program or a host first asks for them. All CPUs are
 * alike. Kernel lock held. Tested by test/kernel/dtrace/count/count_test.c.
 */
#include "abi/sys/dtrace.h"
#include "kernel/arch/count.h"
#include "kernel/arch/cpu.h"
#include "kernel/base/assert.h"
#include "kernel/base/cpu.h"
#include "kernel/dtrace/count/own.h"
#include KERNEL_COUNTERS_H

/* iterations of a loop, in which any counter of cycles or instructions must count */
enum { TURNS = 8 };

static struct count_facts facts; /* [k] */
static uint32_t used;            /* [k] mask of counters in use */

/* Returns whether the counter counts. Interrupts are masked; no counter is in use. */
static bool count_moves(unsigned n, unsigned event)
{
    bool over;

    arch_count_set(n, event, ARCH_COUNT_USER | ARCH_COUNT_KERNEL);
    uint64_t before = arch_count_read(n, &over);
    for (volatile unsigned turns = 0; turns < TURNS; turns++) {
    }
    uint64_t after = arch_count_read(n, &over);
    arch_count_set(n, event, 0);
    return before != after;
}

const struct count_facts *count_facts(void)
{
    kernel_assert(kernel_locked());
    if (facts.known) {
        return &facts;
    }
    uintptr_t irq = arch_irq_save();
    facts.counters = arch_count_counters();
    facts.counts[ARCH_COUNT_CYCLES] =
        arch_count_has(ARCH_COUNT_CYCLES) && count_moves(ARCH_COUNT_CYCLE, ARCH_COUNT_CYCLES);
    facts.counts[ARCH_COUNT_INSTRUCTIONS] = facts.counters &&
                                            arch_count_has(ARCH_COUNT_INSTRUCTIONS) &&
                                            count_moves(0, ARCH_COUNT_INSTRUCTIONS);
    facts.interrupts = facts.counters && arch_count_interrupts();
    facts.known = true;
    arch_irq_restore(irq);
    return &facts;
}

bool count_event_counts(unsigned event)
{
    const struct count_facts *f = count_facts();

    return event <= ARCH_COUNT_INSTRUCTIONS ? f->counts[event] : arch_count_has(event);
}

unsigned count_take(void)
{
    for (unsigned n = 0; n < count_facts()->counters; n++) {
        if (!(used >> n & 1)) {
            used |= 1u << n;
            return n;
        }
    }
    return COUNTER_NONE;
}

void count_give(unsigned n)
{
    kernel_assert(used >> n & 1);
    used &= ~(1u << n);
}

uint32_t dtrace_count_features(void)
{
    const struct count_facts *f = count_facts();

    return (f->counts[ARCH_COUNT_CYCLES] ? KYMO_D_FEATURE_COUNTS_CYCLES : 0) |
           (f->counts[ARCH_COUNT_INSTRUCTIONS] ? KYMO_D_FEATURE_COUNTS_INSTRUCTIONS : 0) |
           (f->interrupts ? KYMO_D_FEATURE_COUNTS_PROBES : 0);
}
