/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The path of a message from MsgSend() over MsgReceive() to MsgReply() or MsgError(). (msg_wait.c
 * handles the threads that wait meanwhile: priorities, ends.) Kernel lock held.
 *
 * A message is copied once, from the sender's buffers to the receiver's, by whichever of the two
 * calls comes second: by MsgSend() if a receiver waits and the message is at most CONFIG_COPY_CHUNK
 * bytes, in at most MSG_PARTS_AT_ONCE parts on each side. Any other message is copied by the
 * receiver, in pieces (KER_AGAIN) between which the kernel does other work: self->xfer identifies
 * its sender, self->step counts bytes. Until it is complete the sender stays in SEND with `server`
 * set, so that either side may end at any point: if the sender has left, the receiver starts over
 * with the next; if the channel was destroyed, ESRCH; if the receiver ends, msg_thread_gone()
 * returns the message to the queue. A long reply is copied in pieces, too; its rcvid is looked up
 * again for each, so the client may leave in between (ESRCH, even if it has sent another message
 * meanwhile).
 *
 * Messages and pulses are received by priority, and within a priority in order of arrival.
 *
 * MsgSend refuses unknown connections (EBADF), those whose server ended (ESRCH), too many parts or
 * bytes (EOVERFLOW) and memory that isn't the sender's (EFAULT, at the latest when it is used).
 * MsgReceive refuses channels that aren't the process's (ESRCH), too many parts (EOVERFLOW) and
 * memory that isn't the receiver's (EFAULT, when something arrives; the message or pulse stays
 * queued); a sender whose memory is bad gets EFAULT, and the receiver keeps waiting. MsgReply and
 * MsgError: an rcvid is valid while its client is REPLY-blocked on a channel of the caller's
 * process; anything else is ESRCH. Bad memory of the server: EFAULT, the client stays blocked. Bad
 * memory of the client: its MsgSend() ends with EFAULT, and the server's call succeeds (0).
 *
 * The round trip is counted by `make bench` (msg_rt_8). Tested by test/kernel.
 */
#include "abi/compiler.h"
#include "kernel/base/cpu.h"
#include "kernel/ipc/msg.h"
#include "kernel/base/visible.h"

#define ERROR_MAX 4095

/* ---- waiting senders meet waiting receivers ---------------------------------------- */

/* Returns the first sender whose message is not being copied yet, or NULL. */
static FBT_VISIBLE struct thread *msg_first_sender(const struct channel *ch)
{
    list_for_each (pos, &ch->senders) {
        struct thread *t = list_entry(pos, struct thread, ready);
        if (!t->server) {
            return t;
        }
    }
    return NULL;
}

static FBT_VISIBLE bool msg_put_info_slow(const struct thread *receiver,
                                          const struct thread *client)
{
    struct _msg_info out;
    msg_info_fill(&out, client);
    return copy_out(receiver->proc, receiver->args[RECEIVE_ARG_INFO], &out, sizeof(out)) == 0;
}

/* Writes the receiver's msg_info, if requested. Returns false if its memory is bad. */
static inline bool msg_put_info(const struct thread *receiver, const struct thread *client)
{
    return receiver->args[RECEIVE_ARG_INFO] == 0 || msg_put_info_slow(receiver, client);
}

/* Makes a waiting receiver copy this sender's message itself, by restarting its call. */
static FBT_VISIBLE void msg_start_pieces(struct thread *receiver, struct thread *client)
{
    kernel_assert(client->state == STATE_SEND && receiver->state == STATE_RECEIVE);
    client->server = receiver;
    receiver->xfer = client->rcvid;
    receiver->step = 0;
    msg_inherit(receiver, client->channel, client->priority);
    list_remove(&receiver->ready);
    receiver->flags |= THREAD_AGAIN;
    /* The receiver's own timeout stays in force: the sender may leave, and then the receiver waits
     * again. */
    uint32_t limited = receiver->timeout_states;
    timeout_disarm(receiver);
    thread_wake(receiver, 0, 0);
    receiver->timeout_states = limited;
}

void msg_match(struct channel *ch)
{
    kernel_assert(kernel_locked());
    struct thread *client, *receiver;
    while ((receiver = msg_first_receiver(ch)) && (client = msg_first_sender(ch))) {
        msg_start_pieces(receiver, client);
    }
}

/* ---- MsgSend ----------------------------------------------------------------------- */

/* Called if no receiver is available: self waits in the channel's queue, which raises its servers'
 * priority. */
static __attribute__((noinline)) long msg_send_queue(struct thread *self, struct channel *ch)
{
    kernel_assert(!msg_first_receiver(ch) || self->srcmsglen > CONFIG_COPY_CHUNK ||
                  msg_many_parts(self, SEND_ARG_SMSG) ||
                  msg_many_parts(msg_first_receiver(ch), RECEIVE_ARG_RMSG));
    self->server = NULL;
    msg_trace_send(self, ch);
    long r = thread_block(self, STATE_SEND);
    if (r != KER_BLOCKED) {
        return r;
    }
    self->queue_seq = msg_next_seq();
    msg_insert_sender(ch, self);
    msg_boost(ch, self->priority);
    return r;
}

/* Starts a long message: the receiver copies it, in a call of its own that proceeds in pieces. A
 * sender with a zero timeout doesn't wait, unless the receiver returns the message to the queue:
 * see timeout_moved(). */
static long msg_hand_over_long(struct thread *self, struct channel *ch, struct thread *receiver)
{
    uint32_t states = self->timeout_states;
    if (self->timeout_now) {
        self->timeout_states = states & ~(uint32_t)_NTO_TIMEOUT_SEND;
    }
    long r = msg_send_queue(self, ch);
    if (r == KER_BLOCKED) {
        self->timeout_states = states;
        msg_start_pieces(receiver, self);
    }
    return r;
}

static __attribute__((noinline)) long msg_send_fault(struct thread *receiver, long whose)
{
    if (whose == MSG_FAULT_SRC) {
        return -EFAULT;
    }
    msg_receiver_fail(receiver, EFAULT);
    return KER_AGAIN;
}

/* Sends to a waiting receiver: copies the message to it and lets it run; the sender waits for the
 * reply. from: the message, or MSG_NOWHERE. */
static inline long msg_hand_over(struct thread *self, uintptr_t from, struct channel *ch,
                                 struct thread *receiver)
{
    kernel_assert(receiver->state == STATE_RECEIVE && receiver->channel == ch);
    size_t n = self->srcmsglen;
    n = receiver->dstmsglen < n ? receiver->dstmsglen : n;
    long copied = (long)n;
    if (!msg_copy_small(receiver->buffer, self, from, n)) {
        if (n > CONFIG_COPY_CHUNK || msg_many_parts(self, SEND_ARG_SMSG) ||
            msg_many_parts(receiver, RECEIVE_ARG_RMSG)) {
            return msg_hand_over_long(self, ch, receiver);
        }
        copied = msg_copy(receiver, RECEIVE_ARG_RMSG, 0, self, SEND_ARG_SMSG, 0, n);
    }
    self->msglen = (uint32_t)copied;
    if (copied < 0 || !msg_put_info(receiver, self)) {
        return msg_send_fault(receiver, copied);
    }
    msg_trace_send(self, ch);
    long r = thread_block(self, STATE_REPLY);
    if (r != KER_BLOCKED) {
        return r;
    }
    kernel_assert(receiver->state == STATE_RECEIVE && receiver->channel == ch);
    self->server = receiver;
    msg_inherit_waiting(receiver, ch, self->priority);
    msg_trace_receive(self, ch);
    list_unlink(&receiver->ready);
    thread_wake(receiver, self->rcvid, 0);
    return r;
}

/* Sends to the first receiver, or enqueues. If the receiver's own memory is bad, its call ends, and
 * self's is executed again for the next one (KER_AGAIN). */
static inline long msg_send(struct thread *self, uintptr_t from, struct channel *ch)
{
    struct thread *receiver = msg_first_receiver(ch);

    return receiver ? msg_hand_over(self, from, ch, receiver) : msg_send_queue(self, ch);
}

static __attribute__((noinline)) long msg_send_refused(struct thread *self, long error)
{
    timeout_unused(self);
    return error;
}

long ker_msg_sendv(struct thread *self, const uintptr_t *args)
{
    struct connection *conn = msg_connection(self->proc, args[0]);
    if (!conn || !conn->channel) {
        return msg_send_refused(self, conn && (conn->flags & CONNECTION_DEAD) ? -ESRCH : -EBADF);
    }
    struct channel *ch = conn->channel;
    uintptr_t from, to;
    long s = msg_resolve(self, SEND_ARG_SMSG, &from);
    long r = msg_resolve(self, SEND_ARG_RMSG, &to);
    if (unlikely((s | r) < 0)) {
        return msg_send_refused(self, s < 0 ? s : r);
    }
    self->connection = conn;
    self->channel = ch;
    self->srcmsglen = (uint32_t)s;
    self->dstmsglen = (uint32_t)r;
    self->buffer = msg_buffer_find(self, &self->in_cache, to, (size_t)r, KYMO_PROT_WRITE);
    r = msg_send(self, from, ch);
    return likely(r == KER_BLOCKED || r == KER_AGAIN) ? r : msg_send_refused(self, r);
}

long ker_msg_sendvnc(struct thread *self, const uintptr_t *args)
{
    return ker_msg_sendv(self, args);
}

/* ---- MsgReceive, MsgReceivePulse --------------------------------------------------- */

/* Returns the sender of the message that self is in the middle of copying, or NULL if it has
 * left. */
static struct thread *msg_receive_continued(struct thread *self, const struct channel *ch)
{
    struct thread *c = rcvid_thread((uintptr_t)self->xfer);
    self->xfer = 0;
    if (!c || c->state != STATE_SEND || c->server != self) {
        self->step = 0;
        return NULL;
    }
    c->server = NULL;
    if (c->channel != ch) { /* that call was abandoned (ThreadCancel); this is another one */
        timeout_moved(c, STATE_SEND);
        msg_match(c->channel);
        self->step = 0;
        return NULL;
    }
    return c;
}

static void msg_receive_to_reply(struct thread *client)
{
    kernel_assert(client->state == STATE_SEND);
    msg_remove_sender(client);
    thread_set_state(client, STATE_REPLY);
    timeout_moved(client, STATE_REPLY);
}

/* Copies (the next piece of) a queued sender's message. If that sender's memory is bad, its call
 * ends, and self's is executed again for the next one. */
static long msg_receive_take(struct thread *self, struct channel *ch, struct thread *client)
{
    size_t total = self->dstmsglen < client->srcmsglen ? self->dstmsglen : client->srcmsglen;
    long r = msg_copy_piece(self, self, RECEIVE_ARG_RMSG, 0, client, SEND_ARG_SMSG, 0, total);
    if (r == KER_AGAIN) {
        self->xfer = client->rcvid;
        client->server = self;
        msg_inherit(self, ch, client->priority);
        return KER_AGAIN;
    }
    if (r == MSG_FAULT_SRC) {
        msg_client_fail(client, EFAULT);
        self->step = 0;
        return KER_AGAIN;
    }
    client->msglen = self->step;
    if (r == MSG_FAULT_DST || !msg_put_info(self, client)) {
        timeout_moved(client, STATE_SEND);
        return -EFAULT;
    }
    msg_receive_to_reply(client);
    msg_inherit(self, ch, client->priority);
    client->server = self;
    msg_trace_receive(client, ch);
    return client->rcvid;
}

static void *plain_buffer(struct thread *self)
{
    bool direct = msg_info_find(self, self->args[RECEIVE_ARG_INFO], &self->info);
    bool plain = self->call == KER_MSG_RECEIVEV && direct && self->timeout_states == 0 &&
                 ((uintptr_t)self->buffer & 3) == 0;
    return plain ? self->buffer : NULL;
}

/* Blocks self, because nothing is queued. */
static FBT_VISIBLE long msg_receive_wait(struct thread *self, struct channel *ch)
{
    uint8_t inherited = self->msg_priority;
    self->msg_priority = 0;
    if (inherited != 0 && inherited == self->priority) {
        thread_update_priority(self);
    }
    long r = thread_block(self, STATE_RECEIVE);
    if (r != KER_BLOCKED) {
        return r;
    }
    self->channel = ch;
    self->plain = plain_buffer(self);
    msg_insert_receiver(ch, self);
    return r;
}

/* Returns whether the first pulse precedes the first message. */
static bool pulse_first(const struct pulse *p, const struct thread *client)
{
    if (!p || !client) {
        return p != NULL;
    }
    if (p->priority != client->priority) {
        return p->priority > client->priority;
    }
    return (int32_t)(p->seq - client->queue_seq) < 0;
}

/* Receives the first queued message or pulse, if there is one. pulses: receives only pulses. */
static __attribute__((noinline)) long msg_receive_first(struct thread *self, struct channel *ch,
                                                        bool pulses)
{
    struct thread *client = self->xfer ? msg_receive_continued(self, pulses ? NULL : ch) : NULL;
    if (!client) {
        client = pulses ? NULL : msg_first_sender(ch);
        const struct pulse *p = msg_first_pulse(ch);
        if (pulse_first(p, client)) {
            return pulse_receive(self, ch);
        }
        if (!client) {
            return msg_receive_wait(self, ch);
        }
    }
    long r = msg_receive_take(self, ch, client);
    if (r < 0 && r != KER_AGAIN) {
        msg_match(ch); /* another receiver may take the message that self returned */
    }
    return r;
}

/* Ends the call with an error. The message being copied (its parts are invalid now) returns to the
 * queue. */
static __attribute__((noinline)) long msg_receive_failed(struct thread *self, long error)
{
    if (self->xfer) {
        msg_receive_continued(self, NULL);
    }
    timeout_unused(self);
    trace_comm_rec_message(~0u, ~0u);
    return error;
}

static FBT_VISIBLE long msg_receive_receive(struct thread *self, const uintptr_t *args, bool pulses)
{
    struct channel *ch = msg_channel(self->proc, args[0]);
    if (!ch) {
        return msg_receive_failed(self, -ESRCH);
    }
    self->serving = ch;
    uintptr_t to;
    long r = msg_resolve(self, RECEIVE_ARG_RMSG, &to);
    if (r < 0) {
        return msg_receive_failed(self, r);
    }
    self->dstmsglen = (uint32_t)r;
    self->buffer = msg_buffer_find(self, &self->in_cache, to, (size_t)r, KYMO_PROT_WRITE);
    if (likely(list_empty(&ch->senders) && list_empty(&ch->pulses) && self->xfer == 0)) {
        r = msg_receive_wait(self, ch);
    } else {
        r = msg_receive_first(self, ch, pulses);
    }
    if (likely(r == KER_BLOCKED || r == KER_AGAIN)) {
        return r;
    }
    if (r < 0) {
        return msg_receive_failed(self, r);
    }
    timeout_unused(self);
    return r;
}

long ker_msg_receivev(struct thread *self, const uintptr_t *args)
{
    return msg_receive_receive(self, args, false);
}

long ker_msg_receivepulsev(struct thread *self, const uintptr_t *args)
{
    return msg_receive_receive(self, args, true);
}

/* ---- MsgReply, MsgError ------------------------------------------------------------ */

/* Ends the client's MsgSend(). */
static inline void msg_reply_finish(struct thread *client, long status, int error)
{
    msg_unblock_done(client);
    thread_wake(client, status, error);
}

static __attribute__((noinline)) long msg_reply_fault(struct thread *client, long whose)
{
    if (whose == MSG_FAULT_SRC) {
        return -EFAULT;
    }
    msg_client_fail(client, EFAULT);
    return 0;
}

static inline void msg_reply_answered(struct thread *client, long status)
{
    trace_comm_reply_message((uint32_t)client->tid, (uint32_t)client->proc->pid);
    msg_reply_finish(client, status, 0);
}

/* Copies a reply longer than a few words. After the first piece self owns the client, until the
 * client leaves: one that has returned with another message isn't owned any more. */
static __attribute__((noinline)) long msg_reply_long(struct thread *self, struct thread *client,
                                                     size_t total)
{
    if (self->step > 0 && client->server != self) {
        return -ESRCH;
    }
    long r = msg_copy_piece(self, client, SEND_ARG_RMSG, 0, self, REPLY_ARG_SMSG, 0, total);
    if (r == KER_AGAIN) {
        client->server = self;
        self->served = true; /* another thread may have received the message */
        return r;
    }
    if (r != 0) {
        return msg_reply_fault(client, r);
    }
    msg_reply_answered(client, (long)self->args[1]);
    return 0;
}

long ker_msg_replyv(struct thread *self, const uintptr_t *args)
{
    struct thread *client = rcvid_client(self, args[0]);
    if (!client) {
        return -ESRCH;
    }
    uintptr_t from;
    long len = msg_resolve(self, REPLY_ARG_SMSG, &from);
    if (len < 0) {
        return len;
    }
    size_t total = (size_t)len < client->dstmsglen ? (size_t)len : client->dstmsglen;
    if (!msg_copy_small(client->buffer, self, from, total)) {
        return msg_reply_long(self, client, total);
    }
    msg_reply_answered(client, (long)args[1]);
    return 0;
}

long ker_msg_error(struct thread *self, const uintptr_t *args)
{
    struct thread *client = rcvid_client(self, args[0]);
    uint32_t error = (uint32_t)args[1];
    if (!client) {
        return -ESRCH;
    }
    if (error > ERROR_MAX) {
        return -EINVAL;
    }
    trace_comm_msg_error((uint32_t)client->tid, (uint32_t)client->proc->pid);
    msg_reply_finish(client, error == 0 ? 0 : -1, (int)error);
    return 0;
}
