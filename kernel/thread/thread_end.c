/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The end of a thread, in whatever state it is, and what it leaves: a status for the one that
 * joins it, a pulse for channels that asked. Kernel lock held.
 *
 * A thread that runs on another CPU is only marked, and that CPU interrupted; it ends there, at the
 * kernel's exit. Until then it may finish a kernel call: all that it makes in it is its process's,
 * and the process is taken apart only when its last thread has gone.
 */
#include "kernel/thread/thread_end.h"

#include "abi/errno.h"
#include "kernel/entry/intr.h"
#include "kernel/entry/kercall.h"
#include "kernel/entry/kercall_trace.h"
#include "kernel/ipc/msg.h"
#include "kernel/observe/retain.h"
#include "kernel/thread/sched.h"
#include "kernel/program/spawn.h"
#include "kernel/thread/thread_check.h"
#include "kernel/observe/trace_dump.h"
#include "kernel/thread/cpu.h"

bool thread_cancel_wait(struct thread *t, bool force)
{
    kernel_assert(kernel_locked());
    kernel_assert(thread_waits(t));
    switch (t->state) {
    case STATE_SEND:
    case STATE_RECEIVE:
    case STATE_REPLY:
        return msg_cancel(t, force);
    case STATE_MUTEX:
    case STATE_CONDVAR:
    case STATE_SEM:
        return sync_cancel(t, force);
    case STATE_INTR:
        return intr_cancel(t);
    case STATE_JOIN:
        kernel_assert(!list_empty(&t->ready));
        list_remove(&t->ready);
        return true;
    case STATE_WAITCTX:
        trace_dump_cancel(t);
        return true;
    default:
        return true; /* NANOSLEEP, WAITTHREAD: in no queue */
    }
}

/* Takes a thread out of everything that could make it run again. */
static void thread_detach_state(struct thread *t)
{
    if (t->state == STATE_READY) {
        sched_unready(t);
    } else if (t->state != STATE_RUNNING && t->state != STATE_STOPPED) {
        thread_cancel_wait(t, true);
    }
    timeout_disarm(t);
    if (t->step) {
        spawn_abandon(t);
        mem_map_abandon(t);
    }
}

/* It has this CPU: nobody has it now. */
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

static void thread_tell_channels(const struct thread *t)
{
    struct process *proc = t->proc;

    for (unsigned i = 0; !proc->dying && i < CONFIG_CHANNELS_PER_PROCESS; i++) {
        struct channel *ch = proc->channels[i];
        if (ch && (ch->flags & _NTO_CHF_THREAD_DEATH) && pulse_room(ch, false)) {
            trace_comm_snd_pulse_dea(0, (uint32_t)proc->pid);
            pulse_send(ch, t->priority, _PULSE_CODE_THREADDEATH, (uintptr_t)t->tid, 0);
        }
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
    thread_detach_state(t);
    msg_thread_gone(t);
    sync_thread_gone(t);
    intr_thread_gone(t);
    thread_leave_cpu(t);
    kernel_assert(arch_cpu()->current != t && t != sched.latest);
    kernel_assert(!timer_node_running(&t->timeout));
    arch_context_drop(t);
    thread_set_state(t, STATE_DEAD);
    if (TRACE_PORT_SITE_ON(TRACE_EV_kercall_int) && !by_itself) {
        kercall_trace_cut(t);
    }
    trace_thread_destroy(proc->pid, t->tid);
    if (t->name[0]) {
        retain_thread(t);
    }
    thread_tell_channels(t);
    if (thread_joined(t) || proc->dying || (t->flags & THREAD_DETACHED)) {
        thread_free(t);
    }
    process_thread_gone(proc);
}

void thread_end_here(struct thread *t)
{
    thread_end(t, t->exit_status);
}
