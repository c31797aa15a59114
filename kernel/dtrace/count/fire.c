/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fires the probes of cpc. A counter that is set to -COUNT overflows after COUNT events; its
 * interrupt, which the kernel's masks don't block, disables all counters' interrupts and records
 * the CPU's position, and at the kernel's exit the probes whose counters have overflowed fire with
 * that sample. Then their counters are set again, accounting for the events counted since, and the
 * interrupts are enabled. So no overflow is lost: overflows without a sample of their own are
 * counted (arg3). Firing takes at most half of a CPU's time: beyond that the interrupts stay
 * disabled for a while, and the counters run.
 *
 * Kernel lock, own CPU. Tested by test/board/counters.py.
 */
#include "kernel/arch/count.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/irq.h"
#include "kernel/base/cpu.h"
#include "kernel/dtrace/count/count.h"
#include "kernel/dtrace/count/own.h"
#include "kernel/dtrace/dtrace.h"
#include "kernel/dtrace/sample.h"
#include "kernel/time/time.h"
#include "trace/dtrace/port.h"
#include "trace/dtrace/probe.h"

/* The counters in use on a CPU. */
static struct counting {
    const struct counted *probes[COUNTERS_MOST]; /* [c] by counter */
    uint64_t missed[COUNTERS_MOST]; /* [k] overflows without a sample since the previous firing */
    uint32_t used;                  /* [c] mask of counters */
    uint64_t paid_until;            /* [c] cycles */
    struct timer_node later;        /* [k] running: the interrupts are disabled */
} countings[CONFIG_CPUS];

static struct sample counted_at[CONFIG_CPUS]; /* [c] */

/* Called in the interrupt, which has disabled all of them: it doesn't occur again before the sample
 * was used. */
void kernel_counted(uintptr_t ip, uintptr_t lr, const uintptr_t *stack, unsigned words)
{
    sample_record(&counted_at[arch_cpu()->id], ip, lr, stack, words);
}

/* ---- firing ------------------------------------------------------------------------ */

/* Returns whether the counter has overflowed, and sets it again. */
static bool count_due(struct counting *c, unsigned n, uint64_t *late)
{
    const struct counted *p = c->probes[n];
    uint32_t past;
    bool over;
    uint32_t value = (uint32_t)arch_count_read(n, &over);
    uint32_t periods = count_periods(p->count, over, value, &past);

    if (!periods) {
        return false;
    }
    arch_count_write(n, past - p->count);
    c->missed[n] += periods - 1;
    *late = past;
    return true;
}

static void counted_fire(struct cpu *cpu, struct counting *c, unsigned n, struct sample *s)
{
    const struct dtrace_probe *probe = dtrace_probe_at(c->probes[n]->probe);
    uint64_t late;

    if (!count_due(c, n, &late)) {
        return;
    }
    const uint64_t words[5] = {s->in_kernel ? s->ip : 0, s->in_kernel ? 0 : s->ip, late,
                               c->missed[n]};
    c->missed[n] = 0;
    struct sample_scene scene = sample_enter(cpu, s, words);
    if (!dtrace_probe_skips(probe)) {
        dtrace_probe_fire(probe, words);
    }
    sample_leave(cpu, &scene);
}

static void counted_fire_all(struct cpu *cpu, struct counting *c, struct sample *s)
{
    uint64_t from = s->at;

    for (uint32_t left = c->used; left; left &= left - 1) {
        counted_fire(cpu, c, (unsigned)__builtin_ctz(left), s);
    }
    sample_pay(&c->paid_until, from, arch_cycles());
}

/* Enables the interrupts, unless firing has taken too long. */
static void counted_open(struct counting *c)
{
    uint64_t allowed = sample_allowed(c->paid_until);

    if (allowed > arch_cycles()) {
        timer_node_start(&c->later, allowed);
    } else {
        arch_count_open(c->used);
    }
}

static void counted_later(struct timer_node *node)
{
    (void)node;
    arch_count_open(countings[arch_cpu()->id].used);
}

void dtrace_count_now(struct cpu *cpu)
{
    kernel_assert(kernel_locked() && cpu == arch_cpu());
    struct sample *s = &counted_at[cpu->id];

    if (s->taken) {
        counted_fire_all(cpu, &countings[cpu->id], s);
        s->taken = false;
        counted_open(&countings[cpu->id]);
    }
}

/* ---- on and off -------------------------------------------------------------------- */

struct running {
    const struct counted *probe;
    bool on;
};

/* Called on the CPU, interrupts masked. A sample that waits there finds no probe, and then enables
 * the remaining counters' interrupts. */
static void run_here(void *arg)
{
    const struct running *r = arg;
    const unsigned n = r->probe->counter;
    struct cpu *cpu = arch_cpu();
    struct counting *c = &countings[cpu->id];

    arch_count_open(0);
    if (r->on) {
        arch_count_set(n, r->probe->event, r->probe->modes);
        arch_count_write(n, -r->probe->count);
        c->probes[n] = r->probe;
        c->missed[n] = 0;
        c->used |= 1u << n;
    } else {
        arch_count_set(n, 0, 0);
        c->used &= ~(1u << n);
    }
    if (!counted_at[cpu->id].taken && !timer_node_running(&c->later)) {
        arch_count_open(c->used);
    }
}

void count_run(const struct counted *p, unsigned cpu, bool on)
{
    struct running r = {p, on};
    struct counting *c = &countings[cpu];

    kernel_assert(kernel_locked());
    if (!c->later.fire) {
        timer_node_init(&c->later, counted_later);
    }
    if (!on && !(c->used & ~(1u << p->counter))) {
        timer_node_stop(&c->later);
    }
    cpu_run_on(1u << cpu, run_here, &r);
}
