/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples for the provider profile: the point at which this CPU was interrupted by its sampling
 * interrupt, which is above all masks (kernel/arch/irq.h). sample.c records it; profile.c fires
 * the probes at the kernel's exit and only then allows the next sample. So there is at most one
 * sample on a CPU at a time.
 */
#ifndef KERNEL_DTRACE_SAMPLE_H
#define KERNEL_DTRACE_SAMPLE_H

#include "kernel/base/cpu.h"
#include "kernel/thread/thread.h"

enum { SAMPLE_WORDS = 64 }; /* words kept of the kernel's stack */

struct sample { /* [c] all of it; the sampling interrupt writes while `taken` is false */
    volatile bool taken;
    bool in_kernel;      /* else the CPU ran a program */
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

#endif
