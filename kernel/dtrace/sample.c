/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The recorder of samples: sample.h. Called by the port's sampling interrupt, which no mask blocks,
 * so it may interrupt any instruction of the kernel except those that the port documents. It writes
 * only its own record, calls nothing that can be traced or probed (host/fbt/left_out.def), and its
 * time is bounded. Tested by test/board/samples.py.
 */
#include "kernel/arch/cpu.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/irq.h"
#include "kernel/dtrace/sample.h"

#include "kernel/dtrace/dtrace.h"

struct sample dtrace_samples[CONFIG_CPUS];

void kernel_sample(uintptr_t ip, uintptr_t lr, const uintptr_t *stack, unsigned words)
{
    sample_record(&dtrace_samples[arch_cpu()->id], ip, lr, stack, words);
}
