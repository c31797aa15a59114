/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fast path of messages while one of its events is on: msg_direct.c finds that out before it
 * has the lock, and calls this file. If the log is the only listener, all of a step's events are
 * logged after the changes (msg_log.h). Tested by test/kernel/entry/direct_test.c; counted by `make
 * bench` (msg_rt_8_traced).
 */
#include "kernel/entry/msg_direct.h"

#include "kernel/arch/cpu.h"
#include "kernel/entry/exit.h"
#include "kernel/entry/msg_log.h"
#include "kernel/entry/msg_plain.h"

/* ---- the calls, with the lock and the log ------------------------------------------- */

HELD struct thread *send_logged(struct thread *self, unsigned number)
{
    enum otherwise otherwise = BY_WIDE;
    struct thread *receiver = NULL;
    struct sending call;
    uint32_t above;

    if (likely(send_read(self, self->args, &call))) {
        arch_switch_save(self);
        call.ran = sched_ran(arch_cpu(), self);
        receiver = send_plain(self, &call, arch_cpu(), &otherwise, &above);
    }
    if (unlikely(!receiver)) {
        return otherwise == BY_SLOW ? kercall_held(self, number) : msg_wide_send(self, number);
    }
    send_says(self, &call);
    arch_switch_load(receiver);
    thread_result(receiver, self->rcvid, 0);
    if (unlikely((uintptr_t)receiver->info | self->timeout_states)) {
        send_leave_changes(self, receiver);
    }
    send_log(self, receiver);
    return logged_leave_switched(receiver);
}

HELD struct thread *receive_each(struct thread *self, unsigned number)
{
    struct receiving call;
    uint32_t above;

    return receive_read(self, self->args, &call) &&
                   receive_plain(self, &call, arch_cpu(), true, &above)
               ? kercall_blocked(self)
               : kercall_held(self, number);
}

HELD struct thread *receive_logged(struct thread *self, unsigned number)
{
    struct thread *next = NULL;
    struct receiving call;
    uint32_t above;

    if (likely(receive_read(self, self->args, &call))) {
        arch_switch_save(self);
        call.ran = sched_ran(arch_cpu(), self);
        next = receive_plain(self, &call, arch_cpu(), false, &above);
    }
    if (unlikely(!next)) {
        return kercall_held(self, number);
    }
    arch_switch_load(next);
    receive_log(self, next);
    return logged_leave_switched(next);
}

HELD struct thread *reply_logged(struct thread *self, unsigned number)
{
    enum otherwise otherwise = BY_WIDE;
    struct replying call;

    if (unlikely(!reply_read(self, self->args, &call) ||
                 !reply_plain(self, &call, arch_cpu(), true, &otherwise))) {
        return otherwise == BY_SLOW ? kercall_held(self, number) : msg_wide_reply(self, number);
    }
    thread_result(call.slot, (long)self->args[1], 0);
    thread_result(self, 0, 0);
    if (unlikely(call.slot->timeout_states)) {
        timeout_disarm(call.slot);
    }
    reply_log(call.slot);
    return logged_leave(self);
}

/* Called if an event was on before the lock was taken: each takes the lock and tests again. */
struct thread *msg_listened_send(struct thread *self, unsigned number)
{
    kernel_lock();
    switch (TRACE_PORT_SITE(TRACE_EV_messages)) {
    case TRACE_SITE_LOG:
        return send_logged(self, number);
    case TRACE_SITE_OFF:
    case TRACE_SITE_ALL:
        break;
    }
    return msg_wide_send(self, number);
}

struct thread *msg_listened_receive(struct thread *self, unsigned number)
{
    kernel_lock();
    switch (TRACE_PORT_SITE(TRACE_EV_messages)) {
    case TRACE_SITE_LOG:
        return receive_logged(self, number);
    case TRACE_SITE_ALL:
        return receive_each(self, number);
    case TRACE_SITE_OFF:
        break;
    }
    return kercall_held(self, number);
}

struct thread *msg_listened_reply(struct thread *self, unsigned number)
{
    kernel_lock();
    switch (TRACE_PORT_SITE(TRACE_EV_messages)) {
    case TRACE_SITE_LOG:
        return reply_logged(self, number);
    case TRACE_SITE_OFF:
    case TRACE_SITE_ALL:
        break;
    }
    return msg_wide_reply(self, number);
}
