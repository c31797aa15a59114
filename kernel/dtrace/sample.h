/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples for the provider profile: the point at which this CPU was interrupted by its sampling
 * interrupt, which no mask blocks (kernel/arch/irq.h). sample.c records it; profile.c fires the
 * probes at the kernel's exit and only then allows the next sample. So there is at most one sample
 * on a CPU at a time.
 */
#ifndef KERNEL_DTRACE_SAMPLE_H
#define KERNEL_DTRACE_SAMPLE_H

#include "kernel/arch/cpu.h"
#include "kernel/arch/irq.h"
#include "kernel/base/cpu.h"
#include "kernel/thread/thread.h"
#include "kernel/time/time.h"

enum { SAMPLE_WORDS = 64 }; /* words kept of the kernel's stack */

struct sample { /* [c] all of it; the sampling interrupt writes while `taken` is false */
    volatile bool taken;
    bool in_kernel;      /* otherwise the CPU ran a program */
    bool elsewhere;      /* while probes fire: the CPU now runs another thread */
    bool foreign;        /* likewise: the thread's memory is not accessible */
    uint16_t generation; /* of the thread, to detect that it has ended */
    int32_t pid, tid;
    struct thread *thread; /* the thread that had the CPU; NULL: idle */
    uint64_t at;           /* cycles */
    uintptr_t ip;
    uintptr_t sp, lr;              /* in_kernel */
    unsigned words;                /* number of valid words in stack[] */
    uintptr_t stack[SAMPLE_WORDS]; /* from the kernel's stack pointer on */
};

extern struct sample dtrace_samples[CONFIG_CPUS];

/* Takes a sample, in the interrupt. Copies the thread's fields, because the thread may have ended
 * when the probes fire. A table entry always remains readable. */
static inline void sample_record(struct sample *s, uintptr_t ip, uintptr_t lr,
                                 const uintptr_t *stack, unsigned words)
{
    struct thread *t = arch_cpu()->current;

    if (s->taken) {
        return; /* the intervals without a sample are counted */
    }
    s->at = arch_cycles();
    s->ip = ip;
    s->sp = (uintptr_t)stack;
    s->lr = lr;
    s->in_kernel = stack != NULL;
    s->thread = t;
    if (t) {
        s->pid = t->pid;
        s->tid = t->tid;
        s->generation = t->generation;
    }
    s->words = words < SAMPLE_WORDS ? words : SAMPLE_WORDS;
    for (unsigned i = 0; i < s->words; i++) {
        s->stack[i] = stack[i];
    }
    s->taken = true;
}

/* ---- while probes fire ------------------------------------------------------------- */

enum { SAMPLE_DEBT_MOST = 1000000 }; /* ns */

/* Limits probe firing to half of this CPU's time, however slow the clauses are: accumulates the
 * time spent that has not yet been balanced by leaving the CPU alone, up to SAMPLE_DEBT_MOST. */
static inline void sample_pay(uint64_t *paid_until, uint64_t from, uint64_t to)
{
    *paid_until = (*paid_until > from ? *paid_until : from) + 2 * (to - from);
}

static inline uint64_t sample_allowed(uint64_t paid_until)
{
    uint64_t most = clock_ns_to_cycles(SAMPLE_DEBT_MOST);

    return paid_until > most ? paid_until - most : 0;
}

/* Returns the thread that had the CPU if it is still alive, otherwise the idle thread. */
static inline struct thread *sample_thread(const struct sample *s)
{
    struct thread *t = s->thread;
    bool lives = t && t->pid == s->pid && t->tid == s->tid && t->generation == s->generation &&
                 t->state != STATE_DEAD;

    return lives ? t : NULL;
}

struct sample_scene {
    uintptr_t irq;
    struct thread *current;
};

/* Makes the clauses see the sampled thread as the running one, until sample_leave(). No other code
 * observes the change: the kernel lock is held and interrupts are masked. */
static inline struct sample_scene sample_enter(struct cpu *cpu, struct sample *s,
                                               const uint64_t words[5])
{
    kernel_assert(kernel_locked() && !cpu->trace.fired && !cpu->sampled);
    struct sample_scene scene = {arch_irq_save(), cpu->current};
    struct thread *current = cpu->current;

    cpu->current = sample_thread(s);
    s->elsewhere = cpu->current != current;
    s->foreign = s->elsewhere && !(current && cpu->current && cpu->current->proc == current->proc);
    cpu->sampled = s;
    cpu->trace.fired = words;
    return scene;
}

static inline void sample_leave(struct cpu *cpu, const struct sample_scene *scene)
{
    cpu->trace.fired = NULL;
    cpu->sampled = NULL;
    cpu->current = scene->current;
    arch_irq_restore(scene->irq);
}

#endif
