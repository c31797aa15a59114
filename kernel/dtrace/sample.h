/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples for the provider profile: where this CPU was when its sampling interrupt came, which is
 * above all masks (kernel/arch/arch.h). sample.c records it; profile.c fires the probes at the
 * kernel's exit and then lets the next one come. So there is at most one sample on a CPU at a time.
 */
#ifndef KERNEL_DTRACE_SAMPLE_H
#define KERNEL_DTRACE_SAMPLE_H

#include "kernel/thread/cpu.h"
#include "kernel/thread/thread.h"

enum { SAMPLE_WORDS = 64 }; /* of the kernel's stack that are kept */

struct sample { /* [c] all of it; the sampling interrupt writes while `taken` is false */
    volatile bool taken;
    bool in_kernel;      /* else the CPU ran a program */
    bool elsewhere;      /* while probes fire: the CPU runs another thread by now */
    bool foreign;        /* likewise: the thread's memory can't be reached from here */
    uint16_t generation; /* of the thread, to see whether it still lives */
    int32_t pid, tid;
    struct thread *thread; /* that had the CPU; NULL: idle */
    uint64_t at;           /* cycles */
    uintptr_t ip;
    uintptr_t sp, lr;              /* in_kernel */
    unsigned words;                /* how many there are */
    uintptr_t stack[SAMPLE_WORDS]; /* from the kernel's stack pointer on */
};

extern struct sample dtrace_samples[CONFIG_CPUS];

#endif
