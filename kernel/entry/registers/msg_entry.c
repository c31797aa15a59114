/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MsgSendv and MsgReceivev, called by the entry code of ports that have a call's words in
 * registers: the fast path (msg_direct.c has the rules), which needn't load the words. A call that
 * it doesn't handle is executed again from the start: by kernel_call(), with the words in memory,
 * or by kercall_held() or msg_wide.c once the lock is held.
 *
 * The entry code has saved the callee-saved registers, as for msg_direct.c. Tested by test/board on
 * the boards that use it; test/kernel tests the same steps, compiled for words in memory.
 */
#include "kernel/arch/cpu.h"
#include "kernel/arch/entry.h"
#include "kernel/entry/msg_held.h"

/* ---- MsgSend ------------------------------------------------------------------------ */

/* Separate functions: the calls of rare cases would move self to another register. Each looks up
 * self, so that it stays in the register in which it arrives. */
static __attribute__((noinline)) struct kernel_sent send_general(void)
{
    return (struct kernel_sent){kernel_call(arch_cpu()->current, KER_MSG_SENDV), 0};
}

static __attribute__((noinline)) struct kernel_sent send_by_slow(void)
{
    return (struct kernel_sent){kercall_held(arch_cpu()->current, KER_MSG_SENDV), 0};
}

static __attribute__((noinline)) struct kernel_sent send_by_wide(void)
{
    return (struct kernel_sent){msg_wide_send(arch_cpu()->current, KER_MSG_SENDV), 0};
}

static __attribute__((noinline)) struct kernel_sent
send_leave_unusual(struct thread *receiver, uint32_t above, struct thread *self)
{
    return (struct kernel_sent){send_leave(self, receiver, above, kernel_lock_at()), 0};
}

/* Reads the values that need no lock. Returns false to leave the call to kernel_call(). */
HELD bool send_words(struct thread *self, const uintptr_t *args, struct sending *call)
{
    if (self->timeout_states) {
        return false;
    }
    if (!part_direct(args[SEND_ARG_SMSG], args[SEND_ARG_SMSG + 1], &self->out_cache, MSG_SMALL,
                     &call->s)) {
        return false;
    }
    if (!part_direct(args[SEND_ARG_RMSG], args[SEND_ARG_RMSG + 1], &self->in_cache, MSG_BYTES_MAX,
                     &call->r)) {
        return false;
    }
    call->slot = msg_connection_slot(self->proc, args[0]);
    return call->slot != NULL;
}

struct kernel_sent kernel_call_send(uintptr_t coid, uintptr_t smsg, uintptr_t sparts,
                                    uintptr_t rmsg, uintptr_t rparts, struct thread *self)
{
    const uintptr_t args[] = {coid, smsg, sparts, rmsg, rparts};
    enum otherwise otherwise = BY_WIDE;
    uint32_t above = 0;
    struct sending call;

    /* While self waits, its server, or the end of its call, reads the words from there. */
    for (unsigned i = 0; i < sizeof(args) / sizeof(*args); i++) {
        self->args[i] = args[i];
    }
    self->call = KER_MSG_SENDV;
    if (TRACE_PORT_SITE_ON(TRACE_EV_kercall_enter) || TRACE_PORT_SITE_ON(TRACE_EV_messages)) {
        return send_general();
    }
    if (unlikely(!send_words(self, args, &call))) {
        return send_general();
    }
    send_says(self, &call); /* no other code reads it of a running thread */
    arch_switch_save(self);
    const struct here here = is_here();
    call.ran = sched_ran(here.cpu, self);
    if (unlikely(!kernel_lock_try_at(here.lock))) {
        return send_general();
    }
    struct thread *receiver = send_plain(self, &call, here.cpu, &otherwise, &above);
    if (unlikely(!receiver)) {
        return otherwise == BY_SLOW ? send_by_slow() : send_by_wide();
    }
    if (unlikely(receiver->info || must_kick(above))) {
        return send_leave_unusual(receiver, above, self);
    }
    uintptr_t rcvid = (uintptr_t)self->rcvid; /* without the lock self may end */
    kernel_unlock_at(here.lock);
    arch_switch_load(receiver);
    return (struct kernel_sent){exit_to(receiver), rcvid};
}

/* ---- MsgReceive --------------------------------------------------------------------- */

static __attribute__((noinline)) struct thread *receive_general(void)
{
    return kernel_call(arch_cpu()->current, KER_MSG_RECEIVEV);
}

static __attribute__((noinline)) struct thread *receive_by_slow(void)
{
    return kercall_held(arch_cpu()->current, KER_MSG_RECEIVEV);
}

HELD bool receive_words(struct thread *self, const uintptr_t *args, struct receiving *call)
{
    if (self->timeout_states | (uint32_t)self->xfer) {
        return false;
    }
    if (!part_direct(args[RECEIVE_ARG_RMSG], args[RECEIVE_ARG_RMSG + 1], &self->in_cache,
                     MSG_BYTES_MAX, &call->r)) {
        return false;
    }
    call->plain = call->r.at;
    if (UNEVEN((uintptr_t)call->r.at)) {
        return false;
    }
    call->info = (struct _msg_info *)args[RECEIVE_ARG_INFO];
    if (unlikely(call->info) && !msg_info_find(self, args[RECEIVE_ARG_INFO], &call->info)) {
        return false;
    }
    call->slot = msg_channel_slot(self->proc, args[0]);
    return call->slot != NULL;
}

struct thread *kernel_call_receive(uintptr_t chid, uintptr_t rmsg, uintptr_t rparts, uintptr_t info,
                                   uintptr_t unused, struct thread *self)
{
    const uintptr_t args[] = {chid, rmsg, rparts, info};
    struct receiving call;

    (void)unused;
    for (unsigned i = 0; i < sizeof(args) / sizeof(*args); i++) {
        self->args[i] = args[i];
    }
    self->call = KER_MSG_RECEIVEV;
    if (TRACE_PORT_SITE_ON(TRACE_EV_kercall_enter) || TRACE_PORT_SITE_ON(TRACE_EV_messages)) {
        return receive_general();
    }
    if (unlikely(!receive_words(self, args, &call))) {
        return receive_general();
    }
    arch_switch_save(self);
    const struct here here = is_here();
    call.ran = sched_ran(here.cpu, self);
    if (unlikely(!kernel_lock_try_at(here.lock))) {
        return receive_general();
    }
    uint32_t above = 0;
    struct thread *next = receive_plain(self, &call, here.cpu, false, &above);
    return likely(next) ? msg_direct_leave(next, above, here.lock) : receive_by_slow();
}
