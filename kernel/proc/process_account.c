/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The accounts of processes: the payers of resources that may outlive a process, and a new
 * process's limits (kernel/base/quota.h). Kernel lock held. Tested by
 * test/board/programs/t_quota.c.
 */
#include "abi/errno.h"
#include "abi/sys/ability.h"
#include "kernel/base/cpu.h"
#include "kernel/proc/proc.h"

struct payer process_payer(const struct process *proc)
{
    return (struct payer){.pid = proc->pid, .group = proc->quota.up};
}

struct quota *process_account(struct payer payer)
{
    struct process *proc = process_any(payer.pid);

    return proc ? &proc->quota : payer.group;
}

void process_refund(struct payer payer, enum kymo_limit kind, size_t n)
{
    quota_release(process_account(payer), kind, n);
}

void process_open_account(struct process *proc, const struct process *parent)
{
    quota_begin(&proc->quota, parent->quota.up, &parent->quota, proc->ability & ABILITY_RESERVE);
    quota_join(proc->quota.up);
    proc->payer = process_payer(parent);
}

static int process_limit_group(struct process *proc, uint32_t which, const uint64_t *limits)
{
    struct quota *around = proc->quota.up;
    struct quota *group = quota_group_new(around, which, limits);

    if (!group) {
        return -EAGAIN;
    }
    quota_begin(&proc->quota, group, &proc->quota, proc->quota.reserve);
    quota_join(group);
    quota_leave(around);
    return 0;
}

int process_limit(struct process *proc, uint32_t which, const uint64_t limits[KYMO_LIMITS],
                  bool group)
{
    struct process *parent = process_any(proc->payer.pid);

    kernel_assert(kernel_locked() && parent && proc->space.nmaps == 0 && proc->nthreads == 0);
    return group ? process_limit_group(proc, which, limits)
                 : quota_set_limits(&proc->quota, &parent->quota, which, limits);
}

void process_close_account(struct process *proc)
{
    process_refund(proc->payer, KYMO_LIMIT_PROCESSES, 1);
    quota_leave(proc->quota.up);
}
