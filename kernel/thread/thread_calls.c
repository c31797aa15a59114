/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ThreadCreate, ThreadDestroy, ThreadDetach, ThreadJoin, ThreadCancel. Kernel lock held. All act on
 * threads of the caller's own process only.
 *
 * Errors: unknown threads and processes (ESRCH), other processes and priorities without
 * ABILITY_PRIORITY (EPERM), bad attributes (EINVAL), bad memory (EFAULT), full tables (EAGAIN);
 * joining the caller itself (EDEADLK), a detached thread (EINVAL), one that another joins (EBUSY).
 * Tested by test/kernel and test/board.
 */
#include "abi/errno.h"
#include "abi/sys/ability.h"
#include "kernel/base/cpu.h"
#include "kernel/arch/cpu.h"
#include "kernel/base/kercall.h"
#include "kernel/proc/proc.h"
#include "kernel/thread/thread.h"

static int attr_check(const struct thread *self, const struct _thread_attr *attr)
{
    bool able = process_able(self->proc, ABILITY_PRIORITY);

    if (attr->priority < 0 || attr->priority > PRIORITY_MAX || attr->policy < SCHED_NOCHANGE ||
        attr->policy > SCHED_OTHER) {
        return -EINVAL;
    }
    if (attr->runmask && !(attr->runmask & cpus_online)) {
        return -EINVAL;
    }
    if (attr->priority > PRIORITY_UNPRIVILEGED_MAX && attr->priority > self->base_priority &&
        !able) {
        return -EPERM;
    }
    return 0;
}

long ker_thread_create(struct thread *self, const uintptr_t *args)
{
    struct _thread_attr attr;
    struct thread *t;
    int pid = (int)args[0];

    if (pid != 0 && pid != self->proc->pid) {
        return process_find(pid) ? -EPERM : -ESRCH;
    }
    if (copy_in(self->proc, &attr, args[3], sizeof(attr))) {
        return -EFAULT;
    }
    int error = attr_check(self, &attr);
    if (!error && self->proc->dying) { /* ended on another CPU; a new thread would never learn it */
        error = -EAGAIN;
    }
    if (!error) {
        error = thread_create(self->proc, self, args[1], args[2], &attr, &t);
    }
    if (error) {
        return error;
    }
    thread_start(t);
    return t->tid;
}

/* Returns the living thread of the caller's process with this tid (0: the caller), or NULL. */
static struct thread *own_living(struct thread *self, int tid)
{
    return tid == 0 ? self : thread_living(self->proc, tid);
}

long ker_thread_destroy(struct thread *self, const uintptr_t *args)
{
    struct thread *t = own_living(self, (int)args[0]);

    if (!t) {
        return -ESRCH;
    }
    thread_end(t, args[2]);
    return t == self ? KER_GONE : 0;
}

long ker_thread_detach(struct thread *self, const uintptr_t *args)
{
    int tid = (int)args[0];
    struct thread *t = tid == 0 ? self : thread_find(self->proc, tid);

    if (!t) {
        return -ESRCH;
    }
    if (t->flags & THREAD_DETACHED) {
        return -EINVAL;
    }
    if (!list_empty(&t->joiners)) {
        return -EBUSY;
    }
    t->flags |= THREAD_DETACHED;
    if (t->state == STATE_DEAD) {
        thread_forget(t);
    }
    return 0;
}

static bool join_cancel(struct thread *t, int error)
{
    list_remove(&t->ready);
    return thread_wait_over(t, error);
}

const struct wait_kind thread_wait_join = {.cancel = join_cancel};

static long join_dead(struct thread *self, struct thread *t, uintptr_t out)
{
    if (out && copy_out(self->proc, out, &t->exit_status, sizeof(t->exit_status))) {
        return -EFAULT;
    }
    thread_forget(t);
    return 0;
}

static long thread_calls_join(struct thread *self, const uintptr_t *args)
{
    struct thread *t = thread_find(self->proc, (int)args[0]);

    if (!t) {
        return -ESRCH;
    }
    if (t == self) {
        return -EDEADLK;
    }
    if (t->flags & THREAD_DETACHED) {
        return -EINVAL;
    }
    if (!list_empty(&t->joiners)) {
        return -EBUSY;
    }
    if (args[1] && !vm_user_ptr(self->proc, args[1], sizeof(uintptr_t), KYMO_PROT_WRITE)) {
        return -EFAULT;
    }
    if (t->state == STATE_DEAD) {
        return join_dead(self, t, args[1]);
    }
    long result = thread_block(self, STATE_JOIN);
    if (result == KER_BLOCKED) {
        list_push_back(&t->joiners, &self->ready);
    }
    return result;
}

long ker_thread_join(struct thread *self, const uintptr_t *args)
{
    long result = thread_calls_join(self, args);

    if (result != KER_BLOCKED) {
        timeout_unused(self);
    }
    return result;
}

/*
 * A thread that waits in a cancellable call returns from it with EINTR and goes to canstub; any
 * other thread does so when it would next wait in such a call. SyncCondvarWait() returns with the
 * mutex locked.
 */
long ker_thread_cancel(struct thread *self, const uintptr_t *args)
{
    struct thread *t = own_living(self, (int)args[0]);

    if (!t) {
        return -ESRCH;
    }
    if (!args[1]) {
        return -EINVAL;
    }
    if (thread_cancellable(t, t->state) && thread_cancel_wait(t, EINTR)) {
        arch_context_redirect(t, args[1]);
        thread_aborted(t);
        return 0;
    }
    t->canstub = args[1];
    return 0;
}
