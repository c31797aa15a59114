/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider `profile` (trace/dtrace/provider/profile.h) in the kernel. The kernel has no tick: a
 * CPU's sampling interrupt is set only while a probe is enabled there, one-shot, for the earliest
 * due probe. The interrupt records the CPU's position (sample.c); the probes fire at the kernel's
 * exit, and then the interrupt is set again. So it can't come faster than probes fire.
 *
 * On a CPU without such an interrupt (arch_sample_able()) a timer of the kernel replaces it, which
 * never interrupts the kernel: arg0 is 0, and arg2 is the sample's delay.
 *
 * Kernel lock. Tested by test/board's suites d, life and samples.
 */
#include "abi/compiler.h"
#include "abi/errno.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/irq.h"
#include "kernel/dtrace/dtrace.h"
#include "kernel/dtrace/sample.h"
#include "kernel/proc/proc.h"
#include "kernel/base/cpu.h"
#include "trace/dtrace/port.h"
#include "trace/dtrace/probe.h"
#include "trace/dtrace/provider/profile.h"

/* A probe on a CPU. */
struct profile_cpu {
    struct profile_cpu *next;             /* [k] in the list of those that run on this CPU */
    const struct dtrace_profile *profile; /* [I] */
    uint64_t cycles;                      /* [I] the interval */
    uint64_t at;                          /* [k] cycles: when the next sample is due */
    uint64_t missed;                      /* [k] samples omitted since the previous one */
    bool served;                          /* [k] it has fired for this sample */
};

static struct profile_cpu *running[CONFIG_CPUS];   /* [k] */
static struct timer_node substitutes[CONFIG_CPUS]; /* [k] replace the sampling interrupt */
static uint64_t paid_until[CONFIG_CPUS];           /* [c] cycles */

/* ---- time of the next sample ------------------------------------------------------- */

/* Sets this CPU's sampling interrupt for the earliest due probe. */
static void set_next(const struct cpu *cpu)
{
    uint64_t at = UINT64_MAX, allowed = sample_allowed(paid_until[dtrace_port_cpu()]);

    for (const struct profile_cpu *p = running[cpu->id]; p; p = p->next) {
        at = p->at < at ? p->at : at;
    }
    at = at < allowed ? allowed : at;
    if (arch_sample_able()) {
        arch_sample_set(at);
    } else if (at == UINT64_MAX) {
        timer_node_stop(&substitutes[cpu->id]);
    } else {
        timer_node_start(&substitutes[cpu->id], at);
    }
}

/* Counts intervals that have ended by then without a sample of their own. */
static void skip_missed(struct profile_cpu *p, uint64_t then)
{
    uint64_t rest;

    if (p->at + p->cycles <= then) {
        p->missed += clock_divide(then - p->at, p->cycles, &rest);
        p->at = then - rest;
    }
}

/* ---- probe firing ------------------------------------------------------------------ */

static void profile_fire(struct cpu *cpu, struct profile_cpu *p, struct sample *s)
{
    skip_missed(p, s->at);
    uint64_t late = s->at > p->at ? s->at - p->at : 0;
    const uint64_t words[5] = {s->in_kernel ? s->ip : 0, s->in_kernel ? 0 : s->ip,
                               clock_cycles_to_ns(late), p->missed};
    p->missed = 0;
    p->served = true;
    struct sample_scene scene = sample_enter(cpu, s, words);
    dtrace_profile_fire(p->profile, words);
    sample_leave(cpu, &scene);
}

static void fire_due(struct cpu *cpu, struct sample *s, uint64_t until)
{
    for (struct profile_cpu *p = running[cpu->id]; p; p = p->next) {
        if (p->at <= until && !p->served) {
            profile_fire(cpu, p, s);
        }
    }
}

/* Fires the due probes. A probe that becomes due meanwhile gets the same sample: a new one would
 * only show this function. */
static void profile_fire_all(struct cpu *cpu, struct sample *s)
{
    uint64_t from = arch_cycles();

    for (struct profile_cpu *p = running[cpu->id]; p; p = p->next) {
        p->served = false;
    }
    fire_due(cpu, s, s->at);
    fire_due(cpu, s, arch_cycles());
    uint64_t now = arch_cycles();
    for (struct profile_cpu *p = running[cpu->id]; p; p = p->next) {
        if (p->served) {
            skip_missed(p, now);
            p->at += p->cycles;
        }
    }
    sample_pay(&paid_until[dtrace_port_cpu()], from, now);
}

void dtrace_sample_now(struct cpu *cpu)
{
    kernel_assert(kernel_locked() && cpu == arch_cpu());
    struct sample *s = &dtrace_samples[cpu->id];

    if (s->taken) {
        profile_fire_all(cpu, s);
        s->taken = false;
    }
    set_next(cpu);
    dtrace_count_now(cpu);
}

/* Fires in place of the sampling interrupt, at the kernel's exit. */
static void profile_substitute(struct timer_node *node)
{
    struct cpu *cpu = arch_cpu();
    const struct thread *t = cpu->current;

    (void)node;
    kernel_sample(t ? arch_context_ip(t) : 0, 0, NULL, 0);
    dtrace_sample_now(cpu);
}

/* ---- on and off -------------------------------------------------------------------- */

static void run_off(struct profile_cpu *p, unsigned cpu)
{
    struct profile_cpu **link = &running[cpu];

    while (*link && *link != p) {
        link = &(*link)->next;
    }
    if (*link) {
        *link = p->next;
    }
}

static COLD int profile_run(struct dtrace_profile *profile, unsigned cpu, bool on)
{
    kernel_assert(kernel_locked());
    struct profile_cpu *p = (struct profile_cpu *)profile->timers + cpu;

    run_off(p, cpu);
    if (on && cpus[cpu].online) {
        p->at = arch_cycles() + p->cycles;
        p->missed = 0;
        p->next = running[cpu];
        running[cpu] = p;
    }
    if (CONFIG_CPUS == 1 || cpu == dtrace_port_cpu()) {
        set_next(arch_cpu());
    } else if (cpus[cpu].online) {
        cpu_request(&cpus[cpu], WORK_SAMPLE);
    }
    return 0;
}

/* An interrupt that is still set finds no probe to fire. */
static COLD void profile_stop(struct dtrace_profile *profile)
{
    unsigned count = arch_cpu_count();
    struct profile_cpu *all = profile->timers;

    for (unsigned n = 0; n < count; n++) {
        run_off(&all[n], n);
    }
    set_next(arch_cpu());
    dtrace_port_free(all, count * sizeof(*all));
    profile->timers = NULL;
}

static COLD int profile_start(struct dtrace_profile *profile)
{
    unsigned count = arch_cpu_count();
    struct profile_cpu *all = dtrace_port_alloc(count * sizeof(*all));

    profile->timers = all;
    for (unsigned n = 0; all && n < count; n++) {
        all[n].profile = profile;
        all[n].cycles = clock_ns_to_cycles(profile->interval);
    }
    return all ? 0 : -ENOMEM;
}

COLD void dtrace_profile_init(void)
{
    static const struct dtrace_profile_target target = {profile_start, profile_run, profile_stop};

    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        timer_node_init(&substitutes[n], profile_substitute);
    }
    dtrace_profile_register(&target);
}
