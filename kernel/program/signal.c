/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A reduced SignalKill: there are no handlers, so a signal ends the process it is sent to, unless
 * the process receives it as a pulse (ThreadCtl(_NTO_TCTL_SIGNAL_EVENT)); SIGCONT only starts a
 * held process (KYMO_SPAWN_HOLD); 0 only checks that the process exists. Kernel lock held. Tested
 * by test/board/programs/t_signal.c.
 *
 * pid 0 is the caller's process. Errors: EINVAL: a node other than 0, or a number outside 0..56;
 * ESRCH: no such process, or no such thread if tid is not 0; EPERM: a process that is neither the
 * caller nor its child, without ABILITY_KILL, or the kernel itself.
 */
#include "abi/errno.h"
#include "abi/sys/ability.h"
#include "kernel/base/cpu.h"
#include "kernel/base/kercall.h"
#include "kernel/ipc/ipc.h"
#include "kernel/proc/proc.h"

#define SIGNAL_MAX 56

static bool may_kill(const struct process *from, const struct process *to)
{
    if (to == kernel_process) {
        return false;
    }
    return to == from || to->ppid == from->pid || process_able(from, ABILITY_KILL);
}

/* Delivers the signal as a pulse. Returns false if the process doesn't receive it as a pulse, or
 * its channel has ended: the process then ends. */
static bool signal_as_pulse(struct process *proc, int signo)
{
    return (proc->signals >> signo & 1) && event_signal_pulse(proc, signo) == 0;
}

/* The main thread is the only thread of a held process. */
static void start_held(struct process *proc)
{
    kernel_assert(!proc->held || (proc->nthreads == 1 && proc->threads[0]));
    if (proc->held) {
        proc->held = false;
        thread_start(proc->threads[0]);
    }
}

bool process_signal(struct process *proc, int signo)
{
    kernel_assert(kernel_locked());
    if (signal_as_pulse(proc, signo)) {
        return false;
    }
    if (signo == KYMO_SIGCONT) {
        start_held(proc);
        return false;
    }
    process_end(proc, signo);
    return true;
}

long ker_signal_kill(struct thread *self, const uintptr_t *args)
{
    int tid = (int)args[2], signo = (int)args[3];

    if (self->step) {
        return process_end_wait(self, (int)args[1]);
    }
    if (args[0] != 0 || signo < 0 || signo > SIGNAL_MAX) {
        return -EINVAL;
    }
    struct process *proc = process_self_or(self->proc, (int)args[1]);
    if (!proc || (tid != 0 && !thread_find(proc, tid))) {
        return -ESRCH;
    }
    if (!may_kill(self->proc, proc)) {
        return -EPERM;
    }
    if (signo == 0) {
        return 0;
    }
    trace_comm_signal(signo, (int)args[4], 0, (uint32_t)proc->pid, (uint32_t)self->proc->pid,
                      (uint32_t)args[5], 0, 0, 0, 0);
    if (!process_signal(proc, signo)) {
        return 0;
    }
    return proc == self->proc ? KER_GONE : process_end_wait(self, proc->pid);
}
