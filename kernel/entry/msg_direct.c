/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fast path of messages: the common forms of MsgSendv, MsgReceivev and MsgReplyv, from the call
 * to the resumed thread. Such a call begins here (kernel/entry/kercall.c).
 *
 * The slow path (msg.c and the scheduler) defines the behaviour. A function in this file does
 * exactly the same, or finds that it can't before it has changed anything, and then calls
 * msg_wide.c or the slow path. Preconditions: a buffer or one part of at most MSG_SMALL bytes,
 * whole words, covered by the thread's user mapping caches; a partner that waits with such a
 * buffer, a receiver without a timeout; a switch from the thread that blocks to the handoff thread;
 * no other work on this CPU.
 *
 * One site (TRACE_EV_messages) stands for all events of the slow path. It is tested first and, if
 * an event is on, again with the lock. If the log is the only listener, all events are logged after
 * the changes (msg_listened.c). If D listens, or the gate is armed, the slow path's changes are
 * made in their order, each with its event (msg_wide.c, `each`).
 *
 * A call reads its own thread and that thread's memory before it takes the lock: the arguments, an
 * iov_t, the locations of the buffers, its own timeout; and it saves its own registers. These
 * values stay valid until the lock is taken. Only this CPU writes the arguments. A mapping is
 * removed, or its rights are changed, with a cross-call to every CPU that runs a thread of the
 * process (kernel/mem/vm_list.h), and a CPU in a call serves cross-calls only while it waits for
 * the lock: a call that has served one there takes the slow path (kernel_lock_undisturbed()). The
 * same covers a call that found no event on just before one was switched on, because switching ends
 * with a cross-call to all CPUs (trace_port_sites_sync()). Another CPU that ends, holds or stops
 * the running thread has the lock and sets exit_work, which is read with the lock, like everything
 * that other threads may change: connection, channel, partner, their priorities, and self's own
 * priority and canstub. The registers of the thread that now has this CPU are accessed after the
 * lock is released, because no other CPU changes them while the thread runs.
 *
 * If another CPU has the lock, a separate copy of each function waits. The code that runs with the
 * lock is in msg_held.h and is shared with registers/, for ports whose entry code has a call's
 * words in registers. Tested by test/kernel/entry/direct_test.c, which runs each call on all paths
 * and compares all memory and the events, and by window_test.c there, where other CPUs change the
 * state that the call depends on before it gets the lock; counted by `make bench` (msg_rt_8,
 * msg_rt_8_smp4, msg_rt_8_traced, msg_smp_scale).
 */
#include "kernel/entry/msg_direct.h"

#include "kernel/arch/cpu.h"
#include "kernel/entry/msg_held.h"

/* ---- the way out: apart, because it needs calls ------------------------------------- */

struct thread *msg_leave_kicking(struct thread *next)
{
    sched_kick_others(arch_cpu());
    kernel_unlock();
    arch_switch_load(next);
    return next;
}

struct thread *msg_send_leave_more(struct thread *self, struct thread *receiver)
{
    send_leave_changes(self, receiver);
    arch_context_set_result(receiver, self->rcvid, 0);
    return msg_direct_leave(receiver, sched.above, kernel_lock_at());
}

struct thread *msg_reply_leave_limited(struct thread *self, struct thread *client)
{
    timeout_disarm(client);
    kernel_unlock();
    arch_context_set_result(self, 0, 0);
    return self;
}

/* ---- the calls: another CPU has the lock ------------------------------------------------ */

/* Each waits for the lock, with the values read so far in registers, and then does the same as
 * without a wait. Separate functions because they make calls. */
static __attribute__((noinline)) struct thread *send_waits(struct thread *self,
                                                           struct connection *const *slot,
                                                           void *s_at, size_t s_bytes, void *r_at,
                                                           size_t r_bytes)
{
    if (unlikely(!kernel_lock_undisturbed())) {
        return kercall_held(self, KER_MSG_SENDV);
    }
    const struct sending call = {
        slot, {0, s_bytes, s_at}, {0, r_bytes, r_at}, sched_ran(arch_cpu(), self)};
    return send_held(self, &call, is_here());
}

static __attribute__((noinline)) struct thread *receive_waits(struct thread *self,
                                                              struct channel *const *slot, void *at,
                                                              size_t bytes, void *plain,
                                                              struct _msg_info *info)
{
    if (unlikely(!kernel_lock_undisturbed())) {
        return kercall_held(self, KER_MSG_RECEIVEV);
    }
    const struct receiving call = {slot, {0, bytes, at}, plain, info, sched_ran(arch_cpu(), self)};
    return receive_held(self, &call, is_here());
}

static __attribute__((noinline)) struct thread *
reply_waits(struct thread *self, struct thread *slot, void *at, size_t bytes)
{
    if (unlikely(!kernel_lock_undisturbed())) {
        return kercall_held(self, KER_MSG_REPLYV);
    }
    const struct replying call = {self->args[0], slot, {0, bytes, at}};
    return reply_held(self, &call, self->args[1], is_here());
}

/* ---- the calls ---------------------------------------------------------------------- */

/* Handles calls of any other form. */
static __attribute__((noinline)) struct thread *send_other(struct thread *self, unsigned number)
{
    kernel_lock();
    return msg_wide_send(self, number);
}

static __attribute__((noinline)) struct thread *reply_other(struct thread *self, unsigned number)
{
    kernel_lock();
    return msg_wide_reply(self, number);
}

struct thread *msg_direct_send(struct thread *self, unsigned number)
{
    struct sending call;
    struct here here;

    if (TRACE_PORT_SITE_ON(TRACE_EV_messages)) {
        return msg_listened_send(self, number);
    }
    if (!send_read(self, self->args, &call)) {
        return send_other(self, number);
    }
    arch_switch_save(self);
    here = is_here();
    call.ran = sched_ran(here.cpu, self);
    return likely(kernel_lock_try_at(here.lock))
               ? send_held(self, &call, here)
               : send_waits(self, call.slot, call.s.at, call.s.bytes, call.r.at, call.r.bytes);
}

struct thread *msg_direct_receive(struct thread *self, unsigned number)
{
    struct receiving call;
    struct here here;

    if (TRACE_PORT_SITE_ON(TRACE_EV_messages)) {
        return msg_listened_receive(self, number);
    }
    if (!receive_read(self, self->args, &call)) {
        return kercall_locked(self, number);
    }
    arch_switch_save(self);
    here = is_here();
    call.ran = sched_ran(here.cpu, self);
    return likely(kernel_lock_try_at(here.lock))
               ? receive_held(self, &call, here)
               : receive_waits(self, call.slot, call.r.at, call.r.bytes, call.plain, call.info);
}

struct thread *msg_direct_reply(struct thread *self, unsigned number)
{
    struct replying call;
    struct here here;

    if (TRACE_PORT_SITE_ON(TRACE_EV_messages)) {
        return msg_listened_reply(self, number);
    }
    if (!reply_read(self, self->args, &call)) {
        return reply_other(self, number);
    }
    here = is_here();
    return likely(kernel_lock_try_at(here.lock))
               ? reply_held(self, &call, self->args[1], here)
               : reply_waits(self, call.slot, call.s.at, call.s.bytes);
}
