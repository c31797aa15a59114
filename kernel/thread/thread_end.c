/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The end of a thread, in any state, and what it leaves: a status for the joining thread, a pulse
 * for channels that requested it. Kernel lock held.
 *
 * A thread that runs on another CPU is only marked, and that CPU interrupted; it ends there, at the
 * kernel's exit. Until then it may finish a kernel call: everything it creates belongs to its
 * process, which is freed only after its last thread has ended.
 */
#include "kernel/thread/thread.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/irq.h"

#include "abi/errno.h"
#include "kernel/proc/proc.h"
#include "kernel/thread/sched.h"
#include "kernel/base/cpu.h"

static void thread_call_each(thread_gone_call *const *list, struct thread *t)
{
    for (; *list; list++) {
        (*list)(t);
    }
}

/* Takes a thread out of the queue that it is in. */
static void thread_leave_queue(struct thread *t)
{
    if (t->state == STATE_READY) {
        sched_unready(t);
    } else {
        thread_cancel_wait(t, 0);
    }
}

/* Leaves this CPU, which then has no thread. */
static void thread_leave_cpu(struct thread *t)
{
    struct cpu *cpu = arch_cpu();

    if (cpu->current == t) {
        uint64_t now = arch_cycles();
        t->run_cycles += now - cpu->since;
        cpu->since = now;
        cpu->current = NULL;
        cpu->resched = 1;
    }
}

/* Hands the exit status to the thread in JOIN, if there is one. */
static bool thread_joined(struct thread *t)
{
    if (list_empty(&t->joiners)) {
        return false;
    }
    struct thread *joiner = list_entry(t->joiners.next, struct thread, ready);
    uintptr_t out = joiner->args[1];
    kernel_assert(joiner->state == STATE_JOIN && joiner->proc == t->proc);
    int error = 0;
    if (out) {
        error = -copy_out(joiner->proc, out, &t->exit_status, sizeof(t->exit_status));
    }
    list_remove(&joiner->ready);
    thread_wake(joiner, error ? -1 : 0, error);
    return true;
}

static bool runs_elsewhere(const struct thread *t)
{
    return CONFIG_CPUS > 1 && t->cpu != arch_cpu()->id && cpus[t->cpu].current == t;
}

void thread_end(struct thread *t, uintptr_t status)
{
    struct process *proc = t->proc;

    kernel_assert(kernel_locked());
    if (t->state == STATE_DEAD) {
        return;
    }
    bool by_itself = t == arch_cpu()->current && !(t->flags & THREAD_DYING);
    t->exit_status = status;
    if (runs_elsewhere(t)) {
        t->flags |= THREAD_DYING;
        cpu_request(&cpus[t->cpu], WORK_RESCHED);
        return;
    }
    thread_leave_queue(t);
    if (t->step) {
        mem_map_abandon(t);
    }
    thread_call_each(thread_gone, t);
    thread_leave_cpu(t);
    kernel_assert(arch_cpu()->current != t && !handoff_of(t));
    kernel_assert(!timer_node_running(&t->timeout));
    arch_context_drop(t);
    thread_set_state(t, STATE_DEAD);
    if (!by_itself) {
        thread_call_each(thread_killed, t);
    }
    trace_thread_destroy(proc->pid, t->tid);
    thread_call_each(thread_ended, t);
    if (thread_joined(t) || proc->dying || (t->flags & THREAD_DETACHED)) {
        thread_forget(t);
    }
    process_thread_gone(proc);
}

void thread_end_here(struct thread *t)
{
    kernel_assert(kernel_locked());
    thread_end(t, t->exit_status);
}
