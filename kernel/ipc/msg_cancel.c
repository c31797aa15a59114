/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Message passing when a participant leaves: timeouts, kills, ends of threads. Kernel lock held.
 *
 * Participants that may disappear, by state, and the consequence:
 *   client in SEND    leaves the queue; a receiver in the middle of copying finds it gone.
 *   client in REPLY   leaves; its rcvid is ESRCH from then on. With _NTO_CHF_UNBLOCK and no force
 *                     it stays, and the server gets an UNBLOCK pulse, once.
 *   receiver          leaves its queue.
 *   server thread     clients that it had received stay in REPLY (another thread of its process may
 *                     reply to them); the message it was copying goes back to the queue.
 *   channel, process  channel.c: clients get ESRCH.     connection: connect.c: clients get EBADF.
 * Proved by test/unit_ipc (random kills) and test/boot (death in every state).
 */
#include "kernel/ipc/msg_impl.h"
#include "kernel/base/visible.h"
#include "kernel/thread/thread_check.h"
#include "kernel/thread/cpu.h"

FBT_VISIBLE void msg_client_leave(struct thread *client)
{
    kernel_assert(kernel_locked());
    kernel_assert(client->state == STATE_SEND || client->state == STATE_REPLY);
    if (client->state == STATE_SEND) {
        kernel_assert(thread_is_queued(&client->channel->senders, client));
        list_remove(&client->ready);
    }
    client->server = NULL;
    client->flags &= (uint8_t)~THREAD_UNBLOCK_SENT;
}

void msg_client_fail(struct thread *client, int error)
{
    msg_client_leave(client);
    thread_wake(client, -1, error);
}

void msg_receiver_fail(struct thread *receiver, int error)
{
    kernel_assert(kernel_locked());
    kernel_assert(receiver->state == STATE_RECEIVE);
    list_remove(&receiver->ready);
    trace_comm_rec_message(~0u, ~0u);
    thread_wake(receiver, -1, error);
}

/* Notifies the server that this client wants to unblock. Returns false if that is impossible:
 * unblock it at once. */
static bool ask_server(struct thread *client)
{
    struct channel *ch = client->channel;
    if (!(ch->flags & _NTO_CHF_UNBLOCK) || ch->proc->dying) {
        return false;
    }
    if (!(client->flags & THREAD_UNBLOCK_SENT)) {
        int scoid = client->connection->scoid;
        if (!pulse_room(ch, false)) {
            return false;
        }
        trace_comm_snd_pulse_un((uint32_t)scoid, (uint32_t)ch->proc->pid);
        if (pulse_send(ch, client->priority, _PULSE_CODE_UNBLOCK, (uintptr_t)client->rcvid,
                       scoid) != 0) {
            return false;
        }
        client->flags |= THREAD_UNBLOCK_SENT;
    }
    return true;
}

static bool sender_cancel(struct thread *t, int error)
{
    msg_client_leave(t);
    return thread_wait_over(t, error);
}

static bool receiver_cancel(struct thread *t, int error)
{
    kernel_assert(thread_is_queued(&t->channel->receivers, t));
    list_remove(&t->ready);
    trace_comm_rec_message(~0u, ~0u);
    return thread_wait_over(t, error);
}

static bool client_cancel(struct thread *t, int error)
{
    if (error && ask_server(t)) {
        return false;
    }
    msg_client_leave(t);
    return thread_wait_over(t, error);
}

const struct wait_kind msg_wait_send = {.requeue = msg_sender_requeue, .cancel = sender_cancel};
const struct wait_kind msg_wait_receive = {.requeue = msg_receiver_requeue,
                                           .cancel = receiver_cancel};
const struct wait_kind msg_wait_reply = {.requeue = msg_client_requeue, .cancel = client_cancel};

/* Messages that t was copying go back to the channel's queue. */
static void msg_cancel_give_back(struct channel *ch, const struct thread *t)
{
    bool any = false;
    list_for_each (pos, &ch->senders) {
        struct thread *client = list_entry(pos, struct thread, ready);
        if (client->server == t) {
            client->server = NULL;
            timeout_moved(client, STATE_SEND);
            any = true;
        }
    }
    if (any) {
        msg_match(ch);
    }
}

void msg_thread_gone(struct thread *t)
{
    struct process *proc = t->proc;
    t->xfer = 0;
    t->serving = NULL;
    for (unsigned i = 0; i < CONFIG_THREADS; i++) {
        struct thread *client = thread_by_index(i);
        if (client && client->state == STATE_REPLY && client->server == t) {
            client->server = NULL;
        }
    }
    for (unsigned i = 0; i < CONFIG_CHANNELS_PER_PROCESS; i++) {
        if (proc->channels[i]) {
            msg_cancel_give_back(proc->channels[i], t);
        }
    }
}
