/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The timers of the provider `profile` (trace/d/provider/profile.h). The kernel has no tick: a
 * timer runs on each CPU only while the probe is enabled. It fires at the kernel's exit: arg0 is 0,
 * for the kernel is never interrupted in its work; arg1 is where the program goes on, 0 when idle.
 *
 * Kernel lock. Tested by test/boot's suites d and life.
 */
#include "kernel/abi/errno.h"
#include "kernel/cpu.h"
#include "kernel/d/d.h"
#include "kernel/process.h"
#include "trace/d/port.h"
#include "trace/d/probe.h"
#include "trace/d/provider/profile.h"

enum { DEBT_MOST = 1000000 }; /* ns */

struct profile_cpu {
    struct timer_node node;
    uint32_t probe;  /* [I] */
    uint64_t cycles; /* [I] the interval */
    uint64_t at;     /* [k] cycles: when it was to fire */
};

static uint64_t paid_until[CONFIG_CPUS]; /* [c] cycles */

/* Whether firings may take this CPU now. They may take half of its time, however slow the clauses
 * are: so much that was not yet paid for by leaving it alone may add up. */
static bool may_fire(uint64_t now, uint64_t *when)
{
    uint64_t paid = paid_until[d_port_cpu()], most = clock_ns_to_cycles(DEBT_MOST);

    *when = paid > most ? paid - most : 0;
    return *when <= now;
}

static void pay(uint64_t from, uint64_t to)
{
    uint64_t *paid = &paid_until[d_port_cpu()];

    *paid = (*paid > from ? *paid : from) + 2 * (to - from);
}

static void fire_now(const struct profile_cpu *here)
{
    const struct thread *t = arch_cpu()->current;
    const uint64_t words[] = {0, t ? arch_context_ip(t) : 0, 0, 0, 0};
    uintptr_t irq = arch_irq_save();

    if (arch_cpu()->fired) {
        d_probe_nested(d_probe_at(here->probe));
    } else {
        arch_cpu()->fired = words;
        d_fire(here->probe, words[0], words[1], 0, 0, 0);
        arch_cpu()->fired = NULL;
    }
    arch_irq_restore(irq);
}

static void fire(struct timer_node *node)
{
    struct profile_cpu *here = (struct profile_cpu *)node;
    uint64_t now = arch_cycles(), when;

    if (!may_fire(now, &when)) {
        timer_node_start(node, when);
        return;
    }
    fire_now(here);
    uint64_t then = arch_cycles();
    pay(now, then);
    do {
        here->at += here->cycles;
    } while (here->at <= then);
    timer_node_start(node, here->at);
}

static void stop(struct d_profile *p)
{
    struct profile_cpu *timers = p->timers;
    unsigned count = arch_cpu_count();

    for (unsigned n = 0; n < count; n++) {
        timer_node_stop(&timers[n].node);
    }
    d_port_free(timers, count * sizeof(*timers));
    p->timers = NULL;
}

static int start(struct d_profile *p)
{
    unsigned count = arch_cpu_count();
    struct profile_cpu *timers = d_port_alloc(count * sizeof(*timers));

    p->timers = timers;
    if (!timers) {
        return -ENOMEM;
    }
    for (unsigned n = 0; n < count; n++) {
        struct profile_cpu *there = &timers[n];
        there->probe = p->probe;
        there->cycles = clock_ns_to_cycles(p->interval);
        timer_node_init(&there->node, fire);
        if (cpus[n].online && (!p->tick || n == 0)) {
            there->at = arch_cycles() + there->cycles;
            timer_node_start_on(&there->node, &cpus[n], there->at);
        }
    }
    return 0;
}

void d_profile_init(void)
{
    static const struct d_profile_target target = {start, stop};

    d_profile_register(&target);
}
