/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MsgReceive and MsgReceivePulse: the receiver's side of message passing. See msg.c.
 *
 * Messages and pulses are received by priority, and within a priority in order of arrival. A
 * message longer than CONFIG_COPY_CHUNK is copied in pieces (KER_AGAIN): self->xfer names its
 * sender, self->step counts bytes. In between the sender may have left (then the receiver starts
 * over with the next), the channel may have been destroyed (ESRCH), the receiver may end
 * (msg_thread_gone() gives the message back to the queue).
 *
 * Kernel lock held. Refuses channels that aren't the process's (ESRCH), too many parts (EOVERFLOW)
 * and memory that isn't the receiver's (EFAULT, when something arrives; the message or pulse stays
 * queued). A sender whose memory is bad gets EFAULT, and the receiver keeps waiting.
 */
#include "kernel/ipc/msg_impl.h"
#include "kernel/base/visible.h"

FBT_VISIBLE struct thread *msg_first_sender(const struct channel *ch)
{
    list_for_each (pos, &ch->senders) {
        struct thread *t = list_entry(pos, struct thread, ready);
        if (!t->server) {
            return t;
        }
    }
    return NULL;
}

FBT_VISIBLE bool msg_put_info_slow(const struct thread *receiver, const struct thread *client)
{
    struct _msg_info out;
    msg_info_fill(&out, client);
    return copy_out(receiver->proc, receiver->args[RECEIVE_ARG_INFO], &out, sizeof(out)) == 0;
}

void msg_start_pieces(struct thread *receiver, struct thread *client)
{
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
    struct thread *client, *receiver;
    while ((receiver = msg_first_receiver(ch)) && (client = msg_first_sender(ch))) {
        msg_start_pieces(receiver, client);
    }
}

/* Returns the sender of the message that self is in the middle of copying; NULL if it has left. */
static struct thread *msg_receive_continued(struct thread *self, const struct channel *ch)
{
    struct thread *c = rcvid_thread((uintptr_t)self->xfer);
    self->xfer = 0;
    if (!c || c->state != STATE_SEND || c->server != self) {
        self->step = 0;
        return NULL;
    }
    c->server = NULL;
    if (c->channel != ch) { /* that call was abandoned (ThreadCancel); this is another */
        timeout_moved(c, STATE_SEND);
        msg_match(c->channel);
        self->step = 0;
        return NULL;
    }
    return c;
}

static void to_reply(struct thread *client)
{
    list_remove(&client->ready);
    thread_set_state(client, STATE_REPLY);
    timeout_moved(client, STATE_REPLY);
}

/* Copies (the next piece of) a queued sender's message. Returns 0 if that sender's memory was bad:
 * try another. */
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
        return 0;
    }
    client->msglen = self->step;
    if (r == MSG_FAULT_DST || !msg_put_info(self, client)) {
        timeout_moved(client, STATE_SEND);
        return -EFAULT;
    }
    to_reply(client);
    msg_inherit(self, ch, client->priority);
    client->server = self;
    trace_receive(client, ch);
    return client->rcvid;
}

static void *plain_buffer(const struct thread *self)
{
    bool plain = self->call == KER_MSG_RECEIVEV && self->args[RECEIVE_ARG_INFO] == 0 &&
                 self->timeout_states == 0 && ((uintptr_t)self->buffer & 3) == 0;
    return plain ? self->buffer : NULL;
}

/* Waits, because nothing is queued. */
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

/* Receives the first of what is queued, if anything. pulses: only pulses are wanted. */
static __attribute__((noinline)) long take_first(struct thread *self, struct channel *ch,
                                                 bool pulses)
{
    struct thread *client = self->xfer ? msg_receive_continued(self, pulses ? NULL : ch) : NULL;
    long r = client ? msg_receive_take(self, ch, client) : 0;
    while (r == 0) { /* each iteration ends a sender's call */
        client = pulses ? NULL : msg_first_sender(ch);
        const struct pulse *p = msg_first_pulse(ch);
        if (pulse_first(p, client)) {
            return pulse_receive(self, ch);
        }
        if (!client) {
            return msg_receive_wait(self, ch);
        }
        r = msg_receive_take(self, ch, client);
    }
    if (r < 0 && r != KER_AGAIN) {
        msg_match(ch); /* another receiver may take what self gave back */
    }
    return r;
}

/* Ends the call with an error. The message being copied (its parts are invalid now) goes back to
 * the queue. */
static __attribute__((noinline)) long receive_failed(struct thread *self, long error)
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
        return receive_failed(self, -ESRCH);
    }
    self->serving = ch;
    const struct vm_window w = self->proc->space.window;
    uintptr_t to;
    long r = msg_resolve(self, &w, RECEIVE_ARG_RMSG, &to);
    if (r < 0) {
        return receive_failed(self, r);
    }
    self->dstmsglen = (uint32_t)r;
    self->buffer = msg_window_find(&w, to);
    if (__builtin_expect(list_empty(&ch->senders) && list_empty(&ch->pulses) && self->xfer == 0,
                         1)) {
        r = msg_receive_wait(self, ch);
    } else {
        r = take_first(self, ch, pulses);
    }
    if (__builtin_expect(r == KER_BLOCKED || r == KER_AGAIN, 1)) {
        return r;
    }
    if (r < 0) {
        return receive_failed(self, r);
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
