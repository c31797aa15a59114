/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SchedGet, SchedSet, SchedInfo, SchedYield. Kernel lock held.
 *
 * pid 0 is the caller's process, tid 0 its calling thread (of another process: thread 1). Without
 * ABILITY_PRIORITY a process may set only its own threads and its children's (EPERM); nobody may
 * set the kernel's. Priorities above 63 need the ability too. Documented in
 * docs/reference/kercalls.md; wrong arguments: test/board.
 */
#include "abi/errno.h"
#include "abi/sys/ability.h"
#include "kernel/base/kercall.h"
#include "kernel/proc/proc.h"
#include "kernel/thread/sched.h"

static long sched_calls_target(struct thread *self, int pid, int tid, struct thread **out)
{
    struct process *proc = process_self_or(self->proc, pid);

    if (!proc) {
        return -ESRCH;
    }
    *out = tid == 0 && proc == self->proc ? self : thread_living(proc, tid == 0 ? 1 : tid);
    return *out ? 0 : -ESRCH;
}

long ker_sched_get(struct thread *self, const uintptr_t *args)
{
    struct thread *t;
    long error = sched_calls_target(self, (int)args[0], (int)args[1], &t);

    if (error) {
        return error;
    }
    struct sched_param_kymo param = {t->base_priority, t->priority, t->policy};
    if (args[2] && copy_out(self->proc, args[2], &param, sizeof(param))) {
        return -EFAULT;
    }
    return t->policy;
}

static long sched_calls_may_set(const struct thread *self, const struct thread *t, int policy,
                                int priority)
{
    bool able = process_able(self->proc, ABILITY_PRIORITY);

    if (policy < SCHED_NOCHANGE || policy > SCHED_OTHER) {
        return -EINVAL;
    }
    if (priority < PRIORITY_MIN || priority > PRIORITY_MAX) {
        return -EINVAL;
    }
    if (t->proc == kernel_process) { /* the idle threads: in no queue */
        return -EPERM;
    }
    if (t->proc != self->proc && t->proc->ppid != self->proc->pid && !able) {
        return -EPERM;
    }
    return priority > PRIORITY_UNPRIVILEGED_MAX && priority > t->base_priority && !able ? -EPERM
                                                                                        : 0;
}

long ker_sched_set(struct thread *self, const uintptr_t *args)
{
    struct sched_param_kymo param;
    struct thread *t;
    int policy = (int)args[2];
    long error = sched_calls_target(self, (int)args[0], (int)args[1], &t);

    if (!error) {
        error = copy_in(self->proc, &param, args[3], sizeof(param));
    }
    if (!error) {
        error = sched_calls_may_set(self, t, policy, param.sched_priority);
    }
    if (error) {
        return error;
    }
    if (policy != SCHED_NOCHANGE) {
        t->policy = (uint8_t)policy;
    }
    t->base_priority = (uint8_t)param.sched_priority;
    thread_update_priority(t);
    return 0;
}

long ker_sched_yield(struct thread *self, const uintptr_t *args)
{
    (void)args;
    return sched_give_way_now(self);
}

long ker_sched_info(struct thread *self, const uintptr_t *args)
{
    struct sched_info_kymo info = {
        .priority_min = PRIORITY_MIN,
        .priority_max = PRIORITY_MAX,
        .priority_unprivileged_max = PRIORITY_UNPRIVILEGED_MAX,
    };
    int policy = (int)args[1];

    if (!process_self_or(self->proc, (int)args[0])) {
        return -ESRCH;
    }
    if (policy < SCHED_NOCHANGE || policy > SCHED_OTHER) {
        return -EINVAL;
    }
    if (policy == SCHED_RR || policy == SCHED_OTHER) {
        info.interval_ns = CONFIG_RR_QUANTUM_MS * 1000000ull;
    }
    return copy_out(self->proc, args[2], &info, sizeof(info));
}
