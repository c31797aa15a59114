/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ProcExit, ProcWait, ProcSelf, ProcInfo, ProcLimits, ThreadInfo. Kernel lock held. Any process may
 * query any other; only a parent may wait.
 *
 * Errors: unknown processes and threads (ESRCH), waiting when there is no such child (ECHILD: also
 * if another thread collected the last one, or disowned it), unknown options, levels and negative
 * pids (EINVAL), bad memory (EFAULT). Tested by test/kernel and test/board.
 */
#include "abi/errno.h"
#include "kernel/arch/cpu.h"
#include "kernel/base/kercall.h"
#include "kernel/ipc/ipc.h"
#include "kernel/observe/observe.h"
#include "kernel/base/string.h"

#define STACK_A_STEP 1024 /* bytes examined between two preemption points */

long ker_proc_exit(struct thread *self, const uintptr_t *args)
{
    process_end(self->proc, (int)(args[0] & 0xff) << 8);
    return KER_GONE;
}

long ker_proc_wait(struct thread *self, const uintptr_t *args)
{
    int pid = (int)args[0];
    struct process *child = pid < 0 ? NULL : process_child(self->proc, pid);

    if (pid < 0 || (args[2] & ~(uintptr_t)(KYMO_WAIT_NOHANG | KYMO_WAIT_DISOWN))) {
        return -EINVAL;
    }
    if (!child) {
        return -ECHILD;
    }
    if (args[2] & KYMO_WAIT_DISOWN) {
        pid = child->pid;
        process_disown(child);
        process_wake_childless(self->proc);
        return pid;
    }
    if (args[1] && !vm_user_ptr(self->proc, args[1], sizeof(int), KYMO_PROT_WRITE)) {
        return -EFAULT;
    }
    if (child->zombie) {
        pid = child->pid;
        if (args[1]) {
            copy_out(self->proc, args[1], &child->status, sizeof(child->status));
        }
        process_forget(child);
        return pid;
    }
    return args[2] & KYMO_WAIT_NOHANG ? 0 : thread_block(self, STATE_WAITTHREAD);
}

long ker_proc_self(struct thread *self, const uintptr_t *args)
{
    if ((args[0] && copy_out(self->proc, args[0], &self->tid, sizeof(self->tid))) ||
        (args[1] && copy_out(self->proc, args[1], &self->proc->ppid, sizeof(int32_t)))) {
        return -EFAULT;
    }
    return self->proc->pid;
}

static unsigned count_used(void *const *entries, unsigned n)
{
    unsigned used = 0;

    for (unsigned i = 0; i < n; i++) {
        used += entries[i] != NULL;
    }
    return used;
}

long ker_proc_info(struct thread *self, const uintptr_t *args)
{
    struct process *p = process_at_least((int)args[0]);
    struct kymo_proc_info info = {0};

    if (!p) {
        return -ESRCH;
    }
    info.pid = p->pid;
    info.ppid = p->ppid;
    info.status_or_zero = p->zombie ? p->status : 0;
    info.ability = p->ability;
    info.nthreads = p->nthreads;
    info.nchannels = count_used((void *const *)p->channels, CONFIG_CHANNELS_PER_PROCESS);
    info.nconnections = count_used((void *const *)p->fds, CONFIG_CONNECTIONS_PER_PROCESS) +
                        count_used((void *const *)p->side, CONFIG_CONNECTIONS_PER_PROCESS);
    info.nmaps = p->space.nmaps;
    info.ntimers = (uint32_t)p->quota.used[KYMO_LIMIT_TIMERS];
    info.memory = p->space.owned_bytes;
    memcpy(info.name, p->name, sizeof(info.name));
    return copy_out(self->proc, args[1], &info, sizeof(info)) ? -EFAULT : p->pid;
}

/* Returns the account `level` levels around the process's, or NULL. */
static const struct quota *process_quota_at(const struct process *p, uintptr_t level)
{
    const struct quota *quota = &p->quota;

    while (quota && level-- > 0) { /* bounded by the nesting depth */
        quota = quota->up;
    }
    return quota;
}

static void process_fill_quota(const struct quota *quota, struct kymo_quota *out)
{
    out->group = quota_group_number(quota);
    out->members = quota->members;
    for (unsigned i = 0; i < KYMO_LIMITS; i++) {
        out->used[i] = quota->used[i];
        out->limit[i] = quota->limit[i] == SIZE_MAX ? KYMO_LIMIT_MOST : quota->limit[i];
        out->reserve[i] = quota->up ? 0 : quota_reserved((enum kymo_limit)i);
    }
    if (!quota->up) {
        out->limit[KYMO_LIMIT_RAM] = out->used[KYMO_LIMIT_RAM] + phys_available();
        out->limit[KYMO_LIMIT_TRACE] = out->used[KYMO_LIMIT_TRACE] + phys_available();
    }
}

long ker_proc_limits(struct thread *self, const uintptr_t *args)
{
    const struct process *p = process_self_or(self->proc, (int)args[0]);
    const struct quota *quota = p ? process_quota_at(p, args[1]) : NULL;
    struct kymo_quota out = {0};

    if (!quota) {
        return p ? -EINVAL : -ESRCH;
    }
    process_fill_quota(quota, &out);
    return copy_out(self->proc, args[2], &out, sizeof(out)) ? -EFAULT : p->pid;
}

static uint64_t thread_blocked_on(const struct thread *t)
{
    switch (t->state) {
    case STATE_SEND:
    case STATE_REPLY:
        return t->channel ? (uint64_t)t->channel->proc->pid << 32 | (uint32_t)t->channel->chid : 0;
    case STATE_RECEIVE:
        return t->channel ? (uint64_t)t->channel->chid : 0;
    case STATE_MUTEX:
    case STATE_CONDVAR:
    case STATE_SEM:
        return t->sync;
    case STATE_JOIN:
        return t->args[0];
    default:
        return 0;
    }
}

static struct thread *thread_at_least(const struct process *p, int tid)
{
    struct thread *found = NULL;

    for (unsigned i = 0; i < CONFIG_THREADS_PER_PROCESS; i++) {
        struct thread *t = p->threads[i];
        if (t && t->tid >= tid && (!found || t->tid < found->tid)) {
            found = t;
        }
    }
    return found;
}

/* unused: number of untouched bytes of an idle thread's stack, which is the kernel's on that
 * CPU. */
static void thread_fill_info(const struct thread *t, uint32_t unused, struct kymo_thread_info *info)
{
    info->pid = t->proc->pid;
    info->tid = t->tid;
    info->state = t->state;
    info->priority = t->priority;
    info->base_priority = t->base_priority;
    info->policy = t->policy;
    info->cpu = t->cpu;
    info->runmask = t->runmask;
    info->run_ns = clock_cycles_to_ns(thread_run_cycles(t));
    info->blocked_on = thread_blocked_on(t);
    memcpy(info->name, t->name, sizeof(info->name));
    if (t->proc == kernel_process) {
        info->stack_bytes = kernel_stack_bytes((unsigned)t->cpu);
        info->stack_used = info->stack_bytes - unused;
    } else if (t->state != STATE_DEAD) {
        uintptr_t sp = arch_context_sp(t);
        info->ip = arch_context_ip(t);
        info->stack_bytes = (uint32_t)(t->stack_high - t->stack_low);
        info->stack_used =
            sp > t->stack_low && sp <= t->stack_high ? (uint32_t)(t->stack_high - sp) : 0;
    }
}

/* step: number of bytes of a kernel stack that are known to be untouched. */
long ker_thread_info(struct thread *self, const uintptr_t *args)
{
    struct process *p = process_self_or(self->proc, (int)args[0]);
    struct thread *t = p ? thread_at_least(p, (int)args[1]) : NULL;
    struct kymo_thread_info info = {0};

    if (!t) {
        return -ESRCH;
    }
    if (t->proc == kernel_process &&
        !kernel_stack_look((unsigned)t->cpu, STACK_A_STEP, &self->step)) {
        return KER_AGAIN;
    }
    thread_fill_info(t, self->step, &info);
    return copy_out(self->proc, args[2], &info, sizeof(info)) ? -EFAULT : t->tid;
}
