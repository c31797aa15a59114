/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The end of a thread, in any state, and its traces: a status for the joining thread, a pulse for
 * channels that requested it. Kernel lock held.
 *
 * The last thread of a process, or the first one of a process that is to end, doesn't end at once:
 * it becomes the ender, leaves all queues, clears all references that others have to it, and from
 * then on executes process_end_step() until nothing is left of its process. It keeps its context,
 * which is never resumed, and is scheduled like any thread.
 *
 * A thread that runs on another CPU is only marked, and that CPU interrupted; it ends there, at the
 * kernel's exit. Until then it may finish a kernel call: everything it creates belongs to its
 * process, which is freed only after its last thread has ended.
 *
 * A single thread may end in steps, too, marked likewise (THREAD_DYING): first it finishes a call
 * that others depend on (a broadcast, the end of a channel, a command for the trace); then it
 * leaves all queues, and any number of references to it are cleared in steps (thread_gone_pieces).
 * Until it is DEAD it is scheduled like any thread. Tested by test/kernel (sync_steps_test,
 * channel_end_test, long_call_test).
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

/* Removes a thread from its queue. */
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

/* Removes t, which doesn't run on another CPU, from all lists, and clears the references to it. */
static void thread_release(struct thread *t)
{
    thread_leave_queue(t);
    if (t->step) { /* it is in the middle of a call */
        call_lock_gone(t);
        mem_map_abandon(t);
    }
    thread_call_each(thread_gone, t);
    kernel_assert(!timer_node_running(&t->timeout));
    arch_context_drop(t);
}

/* Completes the end of a thread that has been released. */
static void thread_die(struct thread *t, bool by_itself)
{
    struct process *proc = t->proc;

    thread_leave_cpu(t);
    kernel_assert(arch_cpu()->current != t && !handoff_of(t));
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

/* Returns whether t is in a call that it has to complete. If its process ends, the process's end
 * does the rest. */
static bool thread_finishes(const struct thread *t)
{
    if ((t->flags & THREAD_AGAIN) && t->step == THREAD_STEP_FINISHES) {
        return !t->proc->dying && t->proc->nthreads > 1;
    }
    return long_call_owns(t);
}

/* Returns the ender's priority: the highest of the process's threads, so that none of them can keep
 * the CPU from it, and of the threads that wait for the end. */
static uint8_t thread_end_priority(const struct process *proc)
{
    unsigned left = proc->nthreads;
    uint8_t highest = proc->end_priority;

    for (unsigned i = 0; left > 0 && i < CONFIG_THREADS_PER_PROCESS; i++) {
        const struct thread *t = proc->threads[i];
        if (t && t->state != STATE_DEAD) {
            left--;
            highest = t->priority > highest ? t->priority : highest;
        }
    }
    return highest;
}

/* Lets t, which doesn't run on another CPU, first complete its call, even if it is held; at the
 * priority of the ender that waits for it, and of the threads that wait for the end. */
static void thread_end_after_call(struct thread *t)
{
    uint8_t priority = t->proc->dying ? thread_end_priority(t->proc) : 0;

    t->flags |= THREAD_DYING;
    t->canstub = 0;
    thread_continue(t);
    thread_raise_call(t, priority);
}

/* Clears some of the references to t. Returns whether there are more. */
static bool thread_lose_piece(struct thread *t)
{
    for (thread_gone_piece *const *piece = thread_gone_pieces; *piece; piece++) {
        if ((*piece)(t)) {
            return true;
        }
    }
    return false;
}

/* Ends the priority inheritance that t had as a server or an owner of mutexes; from now on it
 * inherits for its last work. */
static void thread_end_inherit(struct thread *t)
{
    uint8_t highest = thread_end_priority(t->proc);

    t->msg_priority = t->sync_priority = 0;
    t->call_priority = highest;
    if (t->priority != highest) {
        trace_site_change_pri((uint32_t)t->pid, (uint32_t)t->tid, highest, t->priority);
        t->priority = highest;
    }
}

/* Schedules t, first of its priority, to execute process_end_step(). */
static void thread_end_schedule(struct thread *t)
{
    struct cpu *cpu = arch_cpu();

    if (cpu->current != t) {
        thread_set_state(t, STATE_READY);
        sched_ready(t);
        cpu->handoff_front = 1;
        return;
    }
    if (t->state > STATE_READY) { /* it blocked, and another CPU has ended it meanwhile */
        thread_set_state(t, STATE_READY);
    }
    if (t->state != STATE_RUNNING) { /* or it has yielded to a thread of its priority */
        thread_set_state(t, STATE_RUNNING);
    }
    cpu->resched = 1;
}

/* Makes t, which has been released, execute steps of an end from now on. A call that it was in is
 * traced as aborted when it runs. */
static void thread_set_ending(struct thread *t, bool by_itself, uint32_t step)
{
    t->call = by_itself ? THREAD_CALL_NONE : t->call;
    t->step = step;
    t->timeout_states = 0;
    t->timeout_now = false;
    t->canstub = 0;
    t->runmask = UINT32_MAX;
    t->flags &= (uint8_t) ~(THREAD_DYING | THREAD_HELD);
    t->flags |= THREAD_AGAIN | (by_itself ? 0 : THREAD_ABORTED);
}

static void thread_become_ender(struct thread *t, bool by_itself)
{
    struct process *proc = t->proc;

    thread_release(t);
    proc->dying = true;
    proc->ender = t;
    thread_end_inherit(t);
    thread_set_ending(t, by_itself, 1);
    thread_end_schedule(t);
}

void thread_end(struct thread *t, uintptr_t status)
{
    struct process *proc = t->proc;

    kernel_assert(kernel_locked());
    if (t->state == STATE_DEAD || t == proc->ender) {
        return;
    }
    bool by_itself = t == arch_cpu()->current && !(t->flags & THREAD_DYING);
    t->exit_status = status;
    if (runs_elsewhere(t)) {
        t->flags |= THREAD_DYING;
        cpu_request(&cpus[t->cpu], WORK_RESCHED);
        return;
    }
    if (thread_loses(t)) {
        return;
    }
    if (thread_finishes(t)) {
        thread_end_after_call(t);
        return;
    }
    if (!proc->ender && (proc->dying || proc->nthreads == 1)) {
        thread_become_ender(t, by_itself);
        return;
    }
    thread_release(t);
    t->queue_seq = 0;
    if (proc->dying || !thread_lose_piece(t)) {
        thread_die(t, by_itself);
        return;
    }
    thread_set_ending(t, by_itself, THREAD_STEP_LOSES);
    t->flags |= THREAD_DYING;
    thread_end_schedule(t);
    thread_lose_piece(t); /* now that it has a state, it inherits from the remaining clients */
}

long thread_end_step(struct thread *t)
{
    struct process *proc = t->proc;

    kernel_assert(kernel_locked() && t == arch_cpu()->current && thread_loses(t));
    if (!proc->ender && (proc->dying || proc->nthreads == 1)) {
        t->flags &= (uint8_t)~THREAD_DYING;
        thread_become_ender(t, true);
        return KER_AGAIN;
    }
    if (thread_lose_piece(t)) { /* also if its process has begun to end meanwhile */
        return KER_AGAIN;
    }
    t->flags &= (uint8_t)~THREAD_DYING;
    thread_die(t, true);
    return KER_GONE;
}

void thread_end_last(struct thread *t)
{
    kernel_assert(kernel_locked());
    kernel_assert(t->proc->ender == t && t->proc->nthreads == 1 && t == arch_cpu()->current);
    thread_die(t, true);
}

void thread_end_here(struct thread *t)
{
    kernel_assert(kernel_locked());
    thread_end(t, t->exit_status);
}
