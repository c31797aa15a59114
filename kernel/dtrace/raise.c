/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * raise() in a D program: a signal to the process in which the probe fired, sent when that CPU
 * leaves the kernel (for a kernel call: when the call is done, or blocks). Probe context can't take
 * a lock, so it only notes the signal; of several before the exit the last counts. Refuses a number
 * that is not a signal, and the kernel's own process. Proved by test/boot's suites "slain".
 */
#include "kernel/thread/cpu.h"
#include "kernel/dtrace/dtrace.h"
#include "kernel/proc/process.h"
#include "trace/dtrace/port.h"

#define SIGNAL_MAX 56

static struct {
    int32_t pid, signal;
} raised[CONFIG_CPUS]; /* [c] */

bool dtrace_port_raise(int signal)
{
    struct cpu *cpu = arch_cpu();
    int32_t pid = dtrace_port_pid();

    if (signal < 0 || signal > SIGNAL_MAX || pid == kernel_process->pid) {
        return false;
    }
    if (signal != 0) {
        raised[cpu->id].pid = pid;
        raised[cpu->id].signal = signal;
        cpu_request(cpu, WORK_RAISE);
    }
    return true;
}

void dtrace_raise_now(const struct cpu *cpu)
{
    struct process *proc = process_find(raised[cpu->id].pid);

    if (proc) {
        process_signal(proc, raised[cpu->id].signal);
    }
}
