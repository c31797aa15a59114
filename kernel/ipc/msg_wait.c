/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that wait in message passing: their priorities, and their aborted waits and ends. Kernel
 * lock held. Tested by test/kernel (random kills) and test/board (death in every state).
 *
 * A server takes the priority of the message it received until it receives again. While it is busy,
 * a client of higher priority that queues raises every server thread that last received from that
 * channel. A client that is raised while it waits passes the priority on to the thread that it
 * waits for; but a server that waits in MsgReceive() has inherited nothing. Priorities are only
 * raised until the next MsgReceive() sets the priority again.
 *
 * Participants that may disappear, by state, and the consequence:
 *   client in SEND    leaves the queue; a receiver in the middle of copying notices that.
 *   client in REPLY   leaves; its rcvid fails with ESRCH from then on. With _NTO_CHF_UNBLOCK and no
 *                     force it stays, and the server gets an UNBLOCK pulse, once.
 *   receiver          leaves its queue.
 *   server thread     clients that it had received stay in REPLY (another thread of its process may
 *                     reply to them), and their references to it are cleared in steps:
 *                     msg_thread_gone_piece(); the message it was copying returns to the queue.
 *   channel, process  channel.c: clients get ESRCH.     connection: connect.c: clients get EBADF.
 */
#include "kernel/base/cpu.h"
#include "kernel/ipc/msg.h"
#include "kernel/base/visible.h"

/* ---- priorities -------------------------------------------------------------------- */

static uint32_t arrivals; /* [k] */

FBT_VISIBLE void msg_raise(struct thread *server, const struct channel *ch, uint8_t priority)
{
    kernel_assert(kernel_locked());
    if (server->msg_priority >= priority || (ch->flags & _NTO_CHF_FIXED_PRIORITY) ||
        !inherit_enter()) {
        return;
    }
    server->msg_priority = priority;
    if (priority > server->priority) {
        thread_update_priority(server);
    }
    inherit_leave();
}

FBT_VISIBLE void msg_boost(struct channel *ch, uint8_t priority)
{
    kernel_assert(kernel_locked());
    if (ch->flags & _NTO_CHF_FIXED_PRIORITY) {
        return;
    }
    uint32_t left = ch->proc->nthreads; /* upper bound of the living threads */
    for (unsigned i = 0; left > 0 && i < CONFIG_THREADS_PER_PROCESS; i++) {
        struct thread *s = ch->proc->threads[i];
        if (!s || s->state == STATE_DEAD) {
            continue;
        }
        left--;
        if (s->serving == ch && s->state != STATE_RECEIVE) {
            msg_raise(s, ch, priority);
        }
    }
}

uint32_t msg_next_seq(void)
{
    return arrivals++;
}

static void msg_sender_requeue(struct thread *t)
{
    msg_remove_sender(t);
    msg_insert_sender(t->channel, t);
    msg_boost(t->channel, t->priority);
}

static void msg_receiver_requeue(struct thread *t)
{
    kernel_assert(thread_is_queued(&t->channel->receivers, t));
    list_remove(&t->ready);
    thread_insert_by_priority(&t->channel->receivers, t);
}

static void msg_client_requeue(struct thread *t)
{
    /* The threads of a server that ends may no longer exist; its clients' waits will end, too. */
    if (t->server && !t->channel->proc->dying && t->server->state != STATE_RECEIVE) {
        msg_raise(t->server, t->channel, t->priority);
    }
}

/* ---- ends -------------------------------------------------------------------------- */

/* Removes a thread in SEND or REPLY from its queue. */
static FBT_VISIBLE void msg_client_leave(struct thread *client)
{
    kernel_assert(kernel_locked());
    kernel_assert(client->state == STATE_SEND || client->state == STATE_REPLY);
    if (client->state == STATE_SEND) {
        msg_remove_sender(client);
    }
    client->server = NULL;
    msg_unblock_done(client);
}

void msg_client_fail(struct thread *client, int error)
{
    kernel_assert(kernel_locked());
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

/* Notifies the server that this client wants to unblock. Returns false if the channel doesn't
 * request that: the client then unblocks at once. The pulse is the client's; that of an earlier
 * message was withdrawn at the end of that message's wait. */
static bool msg_ask_server(struct thread *client)
{
    struct channel *ch = client->channel;
    if (!(ch->flags & _NTO_CHF_UNBLOCK) || ch->proc->dying) {
        return false;
    }
    if (!(client->flags & THREAD_UNBLOCK_SENT)) {
        int scoid = client->connection->scoid;
        trace_comm_snd_pulse_un((uint32_t)scoid, (uint32_t)ch->proc->pid);
        client->flags |= THREAD_UNBLOCK_SENT;
        pulse_notify(ch, &client->notice,
                     (struct pulse){.priority = client->priority,
                                    .code = _PULSE_CODE_UNBLOCK,
                                    .value = (uintptr_t)client->rcvid,
                                    .scoid = scoid});
    }
    return true;
}

static bool msg_sender_cancel(struct thread *t, int error)
{
    msg_client_leave(t);
    return thread_wait_over(t, error);
}

static bool msg_receiver_cancel(struct thread *t, int error)
{
    kernel_assert(thread_is_queued(&t->channel->receivers, t));
    list_remove(&t->ready);
    trace_comm_rec_message(~0u, ~0u);
    return thread_wait_over(t, error);
}

static bool msg_client_cancel(struct thread *t, int error)
{
    if (error && msg_ask_server(t)) {
        return false;
    }
    msg_client_leave(t);
    return thread_wait_over(t, error);
}

const struct wait_kind msg_wait_send = {.requeue = msg_sender_requeue, .cancel = msg_sender_cancel};
const struct wait_kind msg_wait_receive = {.requeue = msg_receiver_requeue,
                                           .cancel = msg_receiver_cancel};
const struct wait_kind msg_wait_reply = {.requeue = msg_client_requeue,
                                         .cancel = msg_client_cancel};

/* Returns the message that t was copying to its channel's queue. */
static void msg_cancel_give_back(struct thread *t)
{
    struct thread *client = t->xfer ? rcvid_thread((uintptr_t)t->xfer) : NULL;

    t->xfer = 0;
    if (client && client->state == STATE_SEND && client->server == t) {
        client->server = NULL;
        timeout_moved(client, STATE_SEND);
        msg_match(client->channel);
    }
}

/* Clears the references to t of clients that it has received. They may be any threads of the
 * system. */
bool msg_thread_gone_piece(struct thread *t)
{
    uint32_t i = t->queue_seq, end = i + CONFIG_FORGET_AT_ONCE;

    kernel_assert(kernel_locked() && !t->serving);
    for (; t->served && i < end && i < thread_slots(); i++) {
        struct thread *client = thread_by_index(i);
        if (client && client->state == STATE_REPLY && client->server == t) {
            client->server = NULL;
        }
    }
    t->queue_seq = i;
    t->served &= i < thread_slots();
    return t->served;
}

void msg_thread_gone(struct thread *t)
{
    kernel_assert(kernel_locked());
    msg_cancel_give_back(t);
    t->served |= t->serving != NULL;
    t->serving = NULL;
    pulse_unqueue(&t->notice); /* UNBLOCK: its rcvid is invalid from now on */
}
