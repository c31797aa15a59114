/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operations of a server on a received message before the reply: MsgRead, MsgWrite, MsgInfo,
 * MsgCurrent.
 *
 * Kernel lock held. Errors: rcvids that are not clients in REPLY on a channel of the caller's
 * process (ESRCH), flags (EINVAL), memory that isn't the server's or the client's (EFAULT, to the
 * server: the client stays blocked). Offsets past the end of the client's buffer copy 0 bytes. Long
 * transfers are copied in pieces, as in msg.c; one whose client has left meanwhile ends with ESRCH,
 * even if the client has returned with another message. Tested by test/kernel.
 */
#include "kernel/ipc/msg.h"
#include "kernel/base/visible.h"

static int16_t info_flags(const struct thread *client)
{
    unsigned flags = sizeof(uintptr_t) == 8 ? _NTO_MI_BITS_64 : 0;

    return (int16_t)(flags | (client->flags & THREAD_UNBLOCK_SENT ? _NTO_MI_UNBLOCK_REQ : 0));
}

FBT_VISIBLE void msg_info_fill(struct _msg_info *info, const struct thread *client)
{
    *info = (struct _msg_info){
        .pid = client->proc->pid,
        .tid = client->tid,
        .chid = client->channel->chid,
        .scoid = client->connection->scoid,
        .coid = client->connection->coid,
        .msglen = client->msglen,
        .srcmsglen = client->srcmsglen,
        .dstmsglen = client->dstmsglen,
        .priority = client->priority,
        .flags = info_flags(client),
    };
}

/* Returns the number of bytes of a client's buffer from an offset on. */
static size_t msg_rw_rest(uint32_t length, uintptr_t offset)
{
    return offset < length ? length - (size_t)offset : 0;
}

/* Index in args[] of the client's read_seq, between the pieces of a transfer. */
#define RW_SEQ 5

/* Returns whether the client's message is no longer that of the previous pieces. The client's wake
 * has cleared TIMEOUT_STATE_READ. */
static bool msg_rw_other_message(const struct thread *self, const struct thread *client)
{
    return self->step > 0 && (!(client->timeout_states & TIMEOUT_STATE_READ) ||
                              client->read_seq != (uint32_t)self->args[RW_SEQ]);
}

static long msg_rw_moved(struct thread *self, struct thread *client, long r)
{
    static uint32_t reads; /* [k] number of messages that were read in pieces */

    if (r == KER_AGAIN) {
        if (!(client->timeout_states & TIMEOUT_STATE_READ)) {
            client->timeout_states |= TIMEOUT_STATE_READ;
            client->read_seq = reads++;
        }
        self->args[RW_SEQ] = client->read_seq;
        return r;
    }
    return r == 0 ? (long)self->step : -EFAULT;
}

long ker_msg_readv(struct thread *self, const uintptr_t *args)
{
    struct thread *client = rcvid_client(self, args[0]);
    if (!client || msg_rw_other_message(self, client)) {
        return -ESRCH;
    }
    uintptr_t unused;
    long room = args[4] == 0 ? msg_resolve(self, 1, &unused) : -EINVAL;
    if (room < 0) {
        return room;
    }
    size_t total = msg_rw_rest(client->srcmsglen, args[3]);
    total = (size_t)room < total ? (size_t)room : total;
    if (self->step == 0) { /* only once, not for each piece */
        trace_site_msg_read((uint32_t)args[0], (uint32_t)client->pid, total);
    }
    return msg_rw_moved(self, client,
                        msg_copy_piece(self, self, 1, 0, client, SEND_ARG_SMSG, args[3], total));
}

long ker_msg_writev(struct thread *self, const uintptr_t *args)
{
    struct thread *client = rcvid_client(self, args[0]);
    if (!client || msg_rw_other_message(self, client)) {
        return -ESRCH;
    }
    uintptr_t unused;
    long len = args[4] == 0 ? msg_resolve(self, 1, &unused) : -EINVAL;
    if (len < 0) {
        return len;
    }
    size_t total = msg_rw_rest(client->dstmsglen, args[3]);
    total = (size_t)len < total ? (size_t)len : total;
    if (self->step == 0) {
        trace_site_msg_write((uint32_t)args[0], (uint32_t)client->pid, total);
    }
    return msg_rw_moved(self, client,
                        msg_copy_piece(self, client, SEND_ARG_RMSG, args[3], self, 1, 0, total));
}

long ker_msg_info(struct thread *self, const uintptr_t *args)
{
    const struct thread *client = rcvid_client(self, args[0]);
    struct _msg_info info;
    if (!client) {
        return -ESRCH;
    }
    msg_info_fill(&info, client);
    return copy_out(self->proc, args[1], &info, sizeof(info));
}

/* Lets queued clients raise a server again that has set its own priority. */
static void raise_again(struct thread *server, struct channel *ch)
{
    const struct pulse *pulse = msg_first_pulse(ch);
    if (!list_empty(&ch->senders)) {
        msg_raise(server, ch, list_entry(ch->senders.next, struct thread, ready)->priority);
    }
    if (pulse) {
        msg_raise(server, ch, pulse->priority);
    }
}

/* Makes the server work for this client from now on: at the client's priority, and raised together
 * with it. */
long ker_msg_current(struct thread *self, const uintptr_t *args)
{
    struct thread *client = rcvid_client(self, args[0]);
    if (!client) {
        return -ESRCH;
    }
    client->server = self;
    self->serving = client->channel;
    msg_inherit(self, client->channel, client->priority);
    raise_again(self, client->channel);
    return 0;
}
