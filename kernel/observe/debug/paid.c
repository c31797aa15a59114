/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts the charges of processes for D's consumers, for check_quota.c. Kernel lock held. Tested by
 * test/trace/dtrace/fire/control_test.c. */
#include "kernel/base/cpu.h"
#include "kernel/dtrace/dtrace.h"
#include "kernel/proc/proc.h"
#include "trace/dtrace/control.h"

unsigned dtrace_paid_by(const struct process *proc, size_t *bytes)
{
    const bool now = dtrace_heap_payer.quota == &proc->quota;

    kernel_assert(kernel_locked());
    *bytes += now ? dtrace_heap_payer.paid : 0;
    return dtrace_control_paid_by(proc, bytes) + now;
}
