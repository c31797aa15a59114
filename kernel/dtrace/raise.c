/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * raise() of a D program: a signal to the process in which the probe has fired, sent when that CPU
 * leaves the kernel (for a kernel call: when the call is complete, or waits). No lock can be taken
 * in the probe, so it only records the signal; if there are several before the exit, the last one
 * counts. Errors: a number that is no signal; the kernel's own process; while a raised signal is
 * being sent, because its probes would keep the CPU in the kernel forever. Tested by test/board's
 * suites "slain", dlink.py.
 */
#include "kernel/base/cpu.h"
#include "kernel/arch/cpu.h"
#include "kernel/dtrace/dtrace.h"
#include "kernel/program/program.h"
#include "trace/dtrace/port.h"
#include "trace/trace.h"

#define SIGNAL_MAX 56

static struct {
    int32_t pid, signal;
    bool sending;
} raised[CONFIG_CPUS]; /* [c] */

bool dtrace_port_raise(int signal)
{
    struct cpu *cpu = arch_cpu();
    int32_t pid = dtrace_port_pid();

    if (signal < 0 || signal > SIGNAL_MAX || pid == kernel_process->pid ||
        raised[cpu->id].sending) {
        return false;
    }
    if (signal != 0) {
        raised[cpu->id].pid = pid;
        raised[cpu->id].signal = signal;
        cpu_request(cpu, WORK_RAISE);
    }
    return true;
}

/* Like a timer's signal, it comes from the kernel: code and sender are 0. */
void dtrace_raise_now(const struct cpu *cpu)
{
    kernel_assert(kernel_locked() && cpu == arch_cpu() && !raised[cpu->id].sending);
    int32_t pid = raised[cpu->id].pid, signal = raised[cpu->id].signal;
    struct process *proc = process_find(pid);

    if (proc) {
        raised[cpu->id].sending = true;
        trace_comm_signal((uint32_t)signal, 0, 0, (uint32_t)pid, 0, 0, 0, 0, 0, 0);
        process_signal(proc, signal);
        raised[cpu->id].sending = false;
    }
}
