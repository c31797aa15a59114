/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MsgReply and MsgError: a server replies to a client.
 *
 * Kernel lock held. An rcvid is valid while its client is REPLY-blocked on a channel of the
 * caller's process; anything else is ESRCH. A reply longer than CONFIG_COPY_CHUNK is copied in
 * pieces; the rcvid is looked up again for each, so the client may leave in between (ESRCH, even if
 * it has sent another message meanwhile). Bad memory of the server: EFAULT, the client stays
 * blocked. Bad memory of the client: its MsgSend() ends with EFAULT, and the server's call succeeds
 * (0). Proved by test/unit_ipc.
 */
#include "kernel/ipc/msg_impl.h"

#define ERROR_MAX 4095

/* Ends the client's MsgSend(). */
static inline void msg_reply_finish(struct thread *client, long status, int error)
{
    client->flags &= (uint8_t)~THREAD_UNBLOCK_SENT;
    thread_wake(client, status, error);
}

static __attribute__((noinline)) long reply_fault(struct thread *client, long whose)
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

/* Copies a reply longer than a few words. After the first piece self owns the client: one that has
 * left and returned with another message isn't owned any more. */
static __attribute__((noinline)) long reply_long(struct thread *self, struct thread *client,
                                                 size_t total)
{
    if (self->step > 0 && client->server != self) {
        return -ESRCH;
    }
    long r = msg_copy_piece(self, client, SEND_ARG_RMSG, 0, self, REPLY_ARG_SMSG, 0, total);
    if (r == KER_AGAIN) {
        client->server = self;
        return r;
    }
    if (r != 0) {
        return reply_fault(client, r);
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
    const struct vm_window w = self->proc->space.window;
    uintptr_t from;
    long len = msg_resolve(self, &w, REPLY_ARG_SMSG, &from);
    if (len < 0) {
        return len;
    }
    size_t total = (size_t)len < client->dstmsglen ? (size_t)len : client->dstmsglen;
    if (!msg_copy_small(client->buffer, &w, from, total)) {
        return reply_long(self, client, total);
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
