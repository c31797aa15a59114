/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MsgSend: passes a message from its sender to a receiver. (msg_receive.c has the other side,
 * msg_reply.c the replies, msg_cancel.c the cases in which either ends.)
 *
 * A message is copied once, from the sender's buffers to the receiver's, by whichever of the two
 * arrives second: here if a receiver waits and the message is at most CONFIG_COPY_CHUNK bytes. A
 * longer one is copied by the receiver, in pieces between which the kernel does other work. Until
 * it is complete the sender stays in SEND with `server` set, so that either side may end at any
 * point.
 *
 * Kernel lock held. Refuses unknown connections (EBADF), those whose server ended (ESRCH), too many
 * parts or bytes (EOVERFLOW) and memory that isn't the sender's (EFAULT, at the latest when it is
 * used). The round trip is counted by `make bench` (msg_rt_8); proved by test/unit_ipc.
 */
#include "kernel/ipc/msg_impl.h"

#define TRY_NEXT 1L /* this receiver's own memory was bad: its call ended, try another */

static inline void trace_send(const struct thread *self, const struct channel *ch)
{
    trace_comm_snd_message((uint32_t)self->rcvid, (uint32_t)ch->proc->pid);
}

/* No receiver is available: waits in the channel's queue, and raises its servers' priority. */
static __attribute__((noinline)) long send_queue(struct thread *self, struct channel *ch)
{
    kernel_assert(!msg_first_receiver(ch) || self->srcmsglen > CONFIG_COPY_CHUNK);
    self->server = NULL;
    trace_send(self, ch);
    long r = thread_block(self, STATE_SEND);
    if (r != KER_BLOCKED) {
        return r;
    }
    self->queue_seq = msg_next_seq();
    msg_insert_by_priority(&ch->senders, self);
    msg_boost(ch, self->priority);
    return r;
}

/* Starts a long message: the receiver copies it, by a call of its own that proceeds in pieces. A
 * sender with a zero timeout doesn't wait, unless the receiver gives the message back: see
 * timeout_moved(). */
static long hand_over_long(struct thread *self, struct channel *ch, struct thread *receiver)
{
    uint32_t states = self->timeout_states;
    if (self->timeout_now) {
        self->timeout_states = states & ~(uint32_t)_NTO_TIMEOUT_SEND;
    }
    long r = send_queue(self, ch);
    if (r == KER_BLOCKED) {
        self->timeout_states = states;
        msg_start_pieces(receiver, self);
    }
    return r;
}

static __attribute__((noinline)) long send_fault(struct thread *receiver, long whose)
{
    if (whose == MSG_FAULT_SRC) {
        return -EFAULT;
    }
    msg_receiver_fail(receiver, EFAULT);
    return TRY_NEXT;
}

/* A receiver waits: copies the message to it and lets it run; the sender waits for the reply. from:
 * the message, if the user mapping cache covers it. */
static inline long msg_hand_over(struct thread *self, const struct vm_window *w, uintptr_t from,
                                 struct channel *ch, struct thread *receiver)
{
    size_t n = self->srcmsglen;
    n = receiver->dstmsglen < n ? receiver->dstmsglen : n;
    long copied = (long)n;
    if (!msg_copy_small(receiver->buffer, w, from, n)) {
        if (n > CONFIG_COPY_CHUNK) {
            return hand_over_long(self, ch, receiver);
        }
        copied = msg_copy(receiver, RECEIVE_ARG_RMSG, 0, self, SEND_ARG_SMSG, 0, n);
    }
    self->msglen = (uint32_t)copied;
    if (copied < 0 || !msg_put_info(receiver, self)) {
        return send_fault(receiver, copied);
    }
    trace_send(self, ch);
    long r = thread_block(self, STATE_REPLY);
    if (r != KER_BLOCKED) {
        return r;
    }
    kernel_assert(receiver->state == STATE_RECEIVE && receiver->channel == ch);
    self->server = receiver;
    msg_inherit_waiting(receiver, ch, self->priority);
    trace_receive(self, ch);
    list_unlink(&receiver->ready);
    thread_wake(receiver, self->rcvid, 0);
    return r;
}

/* Sends to the first receiver that has a good buffer, or enqueues. */
static inline long msg_send(struct thread *self, const struct vm_window *w, uintptr_t from,
                            struct channel *ch)
{
    long r;
    do { /* each iteration ends a receiver's call */
        struct thread *receiver = msg_first_receiver(ch);
        r = receiver ? msg_hand_over(self, w, from, ch, receiver) : send_queue(self, ch);
    } while (r == TRY_NEXT);
    return r;
}

static __attribute__((noinline)) long send_refused(struct thread *self, long error)
{
    timeout_unused(self);
    return error;
}

long ker_msg_sendv(struct thread *self, const uintptr_t *args)
{
    struct connection *conn = msg_connection(self->proc, args[0]);
    if (!conn || !conn->channel) {
        return send_refused(self, conn && (conn->flags & CONNECTION_DEAD) ? -ESRCH : -EBADF);
    }
    struct channel *ch = conn->channel;
    const struct vm_window w = self->proc->space.window;
    uintptr_t from, to;
    long s = msg_resolve(self, &w, SEND_ARG_SMSG, &from);
    long r = msg_resolve(self, &w, SEND_ARG_RMSG, &to);
    if (__builtin_expect((s | r) < 0, 0)) {
        return send_refused(self, s < 0 ? s : r);
    }
    self->connection = conn;
    self->channel = ch;
    self->srcmsglen = (uint32_t)s;
    self->dstmsglen = (uint32_t)r;
    self->buffer = msg_window_find(&w, to);
    r = msg_send(self, &w, from, ch);
    return __builtin_expect(r == KER_BLOCKED, 1) ? r : send_refused(self, r);
}

long ker_msg_sendvnc(struct thread *self, const uintptr_t *args)
{
    return ker_msg_sendv(self, args);
}
