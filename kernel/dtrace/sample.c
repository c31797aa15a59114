/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The recorder of samples: sample.h. Called by the port's sampling interrupt, above every mask, so
 * it may interrupt any instruction of the kernel except those that the port documents. It writes
 * only its own record, calls nothing that can be traced or probed (host/fbt/left_out.def), and its
 * time is bounded. Tested by test/boot/samples.py.
 */
#include "kernel/arch/cpu.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/irq.h"
#include "kernel/dtrace/sample.h"

#include "kernel/dtrace/dtrace.h"

struct sample dtrace_samples[CONFIG_CPUS];

/* Reads the thread's fields here because the thread may have ended when the probes fire. A table
 * entry always remains readable. */
void kernel_sample(uintptr_t ip, uintptr_t lr, const uintptr_t *stack, unsigned words)
{
    const struct cpu *cpu = arch_cpu();
    struct sample *s = &dtrace_samples[cpu->id];
    struct thread *t = cpu->current;

    if (s->taken) {
        return; /* profile.c counts the intervals without a sample */
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
