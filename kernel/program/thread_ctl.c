/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ThreadCtl: run mask of the calling thread, name of a thread of its process, whether the process
 * may drive devices, holding threads of its process (kernel/thread/thread_hold.c), and signals that
 * its process receives as pulses (kernel/program/signal.c). Kernel lock held. Errors: unknown
 * commands: EINVAL; unknown threads: ESRCH; a mask without an online CPU: EINVAL; a name of more
 * than 15 bytes: ENAMETOOLONG; a sigevent that isn't a valid pulse, or SIGKILL: EINVAL, EBADF,
 * EPERM. Tested by test/kernel and test/board/programs/t_qnx.c.
 */
#include "abi/errno.h"
#include "abi/sys/ability.h"
#include "kernel/arch/cpu.h"
#include "kernel/base/kercall.h"
#include "kernel/ipc/ipc.h"
#include "kernel/proc/proc.h"
#include "kernel/observe/observe.h"
#include "kernel/base/string.h"

static long ctl_runmask(struct thread *self, uint32_t mask)
{
    if (!(mask & cpus_online)) {
        return -EINVAL;
    }
    self->runmask = mask;
    sched_changed(self);
    return 0;
}

/* Stores the old mask only if the new one can be set. */
static long ctl_runmask_exchange(struct thread *self, uintptr_t data)
{
    uint32_t mask, old = self->runmask;

    if (copy_in(self->proc, &mask, data, sizeof(mask))) {
        return -EFAULT;
    }
    if (mask != 0 && !(mask & cpus_online)) {
        return -EINVAL;
    }
    if (copy_out(self->proc, data, &old, sizeof(old))) {
        return -EFAULT;
    }
    return mask != 0 ? ctl_runmask(self, mask) : 0;
}

/* Programs never run privileged: the request succeeds for those that may drive devices, and gives
 * them the I/O ports of devices. */
static long ctl_io(struct thread *self)
{
    bool device = process_able(self->proc, ABILITY_DEVICE);

    if (device) {
        arch_context_allow_ports(self);
    }
    return device || process_able(self->proc, ABILITY_INTERRUPT) ? 0 : -EPERM;
}

/* The buffer holds the new name on entry, and on return the old one if it fits. */
static long ctl_name(struct thread *t, uintptr_t data)
{
    struct _thread_name request;
    char name[KYMO_THREAD_NAME_MAX] = "";

    if (!t) {
        return -ESRCH;
    }
    size_t old = strlen(t->name) + 1;
    if (copy_in(t->proc, &request, data, sizeof(request))) {
        return -EFAULT;
    }
    uintptr_t buffer = (uintptr_t)request.name_buf;
    bool read_only = request.new_name_len < 0;
    if (!read_only && request.new_name_len > KYMO_THREAD_NAME_MAX) {
        return -ENAMETOOLONG;
    }
    if (!read_only && copy_in(t->proc, name, buffer, (size_t)request.new_name_len)) {
        return -EFAULT;
    }
    if (name[sizeof(name) - 1]) {
        return -ENAMETOOLONG;
    }
    if (request.name_buf_len > 0) {
        size_t n = old < (size_t)request.name_buf_len ? old : (size_t)request.name_buf_len;
        if (copy_out(t->proc, buffer, t->name, n) && read_only) {
            return -EFAULT;
        }
    }
    if (!read_only) {
        memcpy(t->name, name, sizeof(name));
        trace_thread_name(t->pid, t->tid, t->name);
        retain_thread(t);
    }
    return 0;
}

static long ctl_signal_event(struct process *proc, uintptr_t data)
{
    struct _signal_event request;

    if (copy_in(proc, &request, data, sizeof(request))) {
        return -EFAULT;
    }
    if (request.signals >> KYMO_SIGKILL & 1) {
        return -EINVAL;
    }
    int error = request.signals ? event_check(proc, &request.event, EVENT_KIND(SIGEV_PULSE)) : 0;
    if (error) {
        return error;
    }
    proc->signals = request.signals;
    /* Without signals the event has not been checked, so a pending signal must not use it. */
    proc->signal_event = request.signals ? request.event : (struct sigevent){0};
    proc->signals_pending &= request.signals;
    event_signals_send(proc);
    return 0;
}

static void ctl_hold(struct thread *t, bool hold)
{
    if (hold) {
        thread_hold(t);
    } else {
        thread_continue(t);
    }
}

static long ctl_one(struct thread *self, int tid, bool hold)
{
    struct thread *t = thread_living(self->proc, tid);

    if (!t) {
        return -ESRCH;
    }
    if (t == self && hold) {
        return thread_hold_self(self);
    }
    ctl_hold(t, hold);
    return 0;
}

/* Holds or continues all threads of the process except the caller. */
static long ctl_others(struct thread *self, bool hold)
{
    for (unsigned i = 0; i < CONFIG_THREADS_PER_PROCESS; i++) {
        struct thread *t = self->proc->threads[i];
        if (t && t != self && t->state != STATE_DEAD) {
            ctl_hold(t, hold);
        }
    }
    return 0;
}

long ker_thread_ctl(struct thread *self, const uintptr_t *args)
{
    if ((args[0] & 0xffff) == _NTO_TCTL_NAME) {
        int tid = (int)(args[0] >> 16);
        return ctl_name(tid == 0 ? self : thread_living(self->proc, tid), args[1]);
    }
    switch (args[0]) {
    case _NTO_TCTL_ONE_THREAD_HOLD:
    case _NTO_TCTL_ONE_THREAD_CONT:
        return ctl_one(self, (int)args[1], args[0] == _NTO_TCTL_ONE_THREAD_HOLD);
    case _NTO_TCTL_THREADS_HOLD:
    case _NTO_TCTL_THREADS_CONT:
        return ctl_others(self, args[0] == _NTO_TCTL_THREADS_HOLD);
    case _NTO_TCTL_IO:
        return ctl_io(self);
    case _NTO_TCTL_RUNMASK_GET_AND_SET:
        return ctl_runmask_exchange(self, args[1]);
    case _NTO_TCTL_RUNMASK:
        return ctl_runmask(self, (uint32_t)args[1]);
    case _NTO_TCTL_RUNMASK_GET:
        return copy_out(self->proc, args[1], &self->runmask, sizeof(self->runmask));
    case _NTO_TCTL_SIGNAL_EVENT:
        return ctl_signal_event(self->proc, args[1]);
    default:
        return -EINVAL;
    }
}
