/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The second fast path of messages: forms of MsgSendv and MsgReplyv that msg_direct.c's shortest
 * code does not handle. Called from there, with the kernel lock; releases it.
 *
 *   wide     buffers of up to MSG_PIECES parts and CONFIG_COPY_CHUNK bytes, at any address
 *   traced   the same while an event of the slow path is on, and msg_direct.c's forms while D
 *            listens to an event: the traced code is the code that runs
 *
 * Without events a function does all changes at once; with `traced` it makes the slow path's
 * changes in their order, each with its event, and ends where the slow path's handler ends: the
 * switch and the exit are shared then. A call of any other form takes the slow path, of which
 * nothing has been done. Tested by test/kernel/entry/direct_test.c; counted by `make bench`
 * (msg_rt_8_iov2, msg_rt_4096, msg_rt_8_traced).
 */
#include "kernel/entry/msg_direct.h"

#include "kernel/arch/cpu.h"
#include "kernel/entry/exit.h"
#include "kernel/entry/msg_steps.h"

/* Copies n bytes, which both sides have, in the slow path's order, because the order matters if the
 * buffers overlap. If one side has one part, each piece of the other is moved by itself, as
 * msg_pieces_copy() would. */
static ALWAYS_INLINE void parts_copy(const struct msg_piece *to, unsigned count, bool whole,
                                     const struct parts *s, size_t n)
{
    const struct msg_piece *from = s->pieces;

    if (n <= MSG_SMALL && whole && s->whole &&
        !UNEVEN((uintptr_t)to->at | (uintptr_t)from->at | n)) {
        msg_copy_words(to->at, from->at, n);
    } else if (whole) {
        for (char *at = to->at; n > 0; from++) {
            size_t piece = from->len < n ? from->len : n;
            msg_move(at, from->at, piece);
            at += piece;
            n -= piece;
        }
    } else if (s->whole) {
        for (const char *at = from->at; n > 0; to++) {
            size_t piece = to->len < n ? to->len : n;
            msg_move(to->at, at, piece);
            at += piece;
            n -= piece;
        }
    } else if (n > 0) {
        msg_pieces_copy(to, to + count, from, from + s->count, n);
    }
}

/* ---- MsgSend ------------------------------------------------------------------------ */

/* Reads the location of the reply buffer. Of several parts only the length is needed until the
 * reply. */
static inline bool send_reply_buffer(struct thread *self, struct part *r)
{
    struct parts several;

    if ((intptr_t)self->args[SEND_ARG_RMSG + 1] <= 1) {
        return part_read(self, self->args, SEND_ARG_RMSG, &self->in_cache, r) &&
               !MSG_TOO_LONG(r->bytes);
    }
    r->at = NULL;
    if (!parts_read_several(self, SEND_ARG_RMSG, NULL, &several)) {
        return false;
    }
    r->bytes = several.bytes;
    return true;
}

/* Sends to a waiting receiver. Returns the receiver, which runs (with `traced`: which is READY and
 * runs next), or NULL. */
HELD struct thread *send_wide(struct thread *self, struct connection *conn, struct channel *ch,
                              struct thread *receiver, bool traced)
{
    struct cpu *cpu = arch_cpu();
    struct msg_piece buffer = {receiver->plain, receiver->dstmsglen};
    struct parts s;
    struct part r;

    if (send_unusual(cpu, self, ch)) {
        return NULL;
    }
    uint8_t priority = self->priority > receiver->priority ? self->priority : receiver->priority;
    if (!sched_chosen(cpu, receiver, priority, sched.above)) {
        return NULL; /* sched_switch() runs another thread, or the receiver on another CPU */
    }
    if (!buffer.at) {
        /* plain_buffer(): a timeout, an unusual buffer or msg_info; or the receiver is held */
        return NULL;
    }
    if (!parts_read(self, SEND_ARG_SMSG, &self->out_cache, &s)) {
        return NULL;
    }
    if (!send_reply_buffer(self, &r)) {
        return NULL;
    }
    size_t n = s.bytes < receiver->dstmsglen ? s.bytes : receiver->dstmsglen;
    if (n > MSG_SMALL &&
        !msg_cached_all(&receiver->in_cache, receiver->args[RECEIVE_ARG_RMSG], n)) {
        return NULL; /* msg_copy(), perhaps EFAULT */
    }
    parts_copy(&buffer, 1, true, &s, n);
    self->srcmsglen = (uint32_t)s.bytes;
    self->dstmsglen = (uint32_t)r.bytes;
    self->msglen = (uint32_t)n;
    self->buffer = r.at;
    if (traced) {
        send_finish_traced(cpu, self, conn, ch, receiver, priority);
        return receiver;
    }
    arch_switch_save(self);
    send_finish(cpu, self, conn, ch, receiver, self->priority, priority, sched_ran(cpu, self));
    return receiver;
}

HELD struct thread *wide_send(struct thread *self, bool traced)
{
    if (timeout_unusual(self)) {
        return NULL; /* thread_block_limited() */
    }
    struct connection *conn = msg_connection(self->proc, self->args[0]);
    struct thread *receiver = send_receiver(conn);
    return receiver ? send_wide(self, conn, conn->channel, receiver, traced) : NULL;
}

static __attribute__((noinline)) struct thread *wide_send_traced(struct thread *self,
                                                                 unsigned number)
{
    return wide_send(self, true) ? kercall_blocked(self) : kercall_held(self, number);
}

struct thread *msg_wide_send(struct thread *self, unsigned number)
{
    if (TRACE_PORT_SITE_ON(TRACE_EV_messages)) {
        return wide_send_traced(self, number);
    }
    struct thread *next = wide_send(self, false);
    return next ? send_leave(self, next, sched.above, kernel_lock_at())
                : kercall_held(self, number);
}

/* ---- MsgReply ----------------------------------------------------------------------- */

/* Finds the memory of the client for n bytes of the reply: its buffer, or its parts. */
static inline bool reply_target(const struct thread *client, size_t n, struct parts *to)
{
    if (n > 0 && (intptr_t)client->args[SEND_ARG_RMSG + 1] > 1) {
        return parts_read_several(client, SEND_ARG_RMSG, &client->in_cache, to) && n <= to->bytes;
    }
    if (!client->buffer && n > 0) {
        return false;
    }
    to->whole = true;
    to->count = 1;
    to->pieces[0] = (struct msg_piece){client->buffer, n};
    return n <= MSG_SMALL || msg_cached_all(&client->in_cache, client->args[SEND_ARG_RMSG], n);
}

HELD bool reply_wide(struct thread *self, struct thread *client, bool traced)
{
    struct cpu *cpu = arch_cpu();
    struct parts s, to;

    if (reply_unusual(cpu, client)) {
        return false;
    }
    if (!sched_waits(cpu, self, client)) {
        return false; /* sched_wake() does more than make the client READY */
    }
    if (!parts_read(self, REPLY_ARG_SMSG, &self->out_cache, &s)) {
        return false;
    }
    size_t n = s.bytes < client->dstmsglen ? s.bytes : client->dstmsglen;
    if (!reply_target(client, n, &to)) {
        /* msg_copy() looks up the client's buffer, or fails with EFAULT for the client */
        return false;
    }
    parts_copy(to.pieces, to.count, to.whole, &s, n);
    if (traced) {
        reply_finish_traced(cpu, client, (long)self->args[1]);
        return true;
    }
    arch_context_set_result(client, (long)self->args[1], 0);
    sched_wake_waiting(cpu, client);
    return true;
}

HELD struct thread *wide_reply(struct thread *self, bool traced)
{
    struct thread *client = rcvid_client(self, self->args[0]);

    if (!client) {
        return NULL; /* ESRCH */
    }
    if (timeout_unusual(client)) {
        return NULL; /* thread_wake() */
    }
    return reply_wide(self, client, traced) ? client : NULL;
}

static __attribute__((noinline)) struct thread *wide_reply_traced(struct thread *self,
                                                                  unsigned number)
{
    return wide_reply(self, true) ? kercall_done(self, 0) : kercall_held(self, number);
}

struct thread *msg_wide_reply(struct thread *self, unsigned number)
{
    if (TRACE_PORT_SITE_ON(TRACE_EV_messages)) {
        return wide_reply_traced(self, number);
    }
    struct thread *client = wide_reply(self, false);
    return client ? reply_leave(self, client, kernel_lock_at()) : kercall_held(self, number);
}
