/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Message passing, for this room and for its fast path (kernel/entry/msg_direct.c): lookups,
 * inheritance, queues, ends. Kernel lock held.
 */
#ifndef KERNEL_IPC_MSG_H
#define KERNEL_IPC_MSG_H

#include "abi/compiler.h"
#include "abi/errno.h"
#include "abi/sys/ability.h"
#include "kernel/base/kercall.h"
#include "kernel/ipc/ipc.h"
#include "kernel/ipc/msg_copy.h"
#include "trace/hook.h"

/* ---- lookups ----------------------------------------------------------------------- */

/* Returns the client that a server may reply to under this rcvid: REPLY-blocked on a channel of the
 * server's process; or NULL. */
static inline bool rcvid_answers(const struct thread *server, const struct thread *c,
                                 uintptr_t rcvid)
{
    return c->rcvid == (int32_t)rcvid && c->state == STATE_REPLY &&
           c->channel->proc == server->proc;
}

/* Returns the table slot that an rcvid refers to, or NULL. Needs no lock. */
static inline struct thread *rcvid_slot(uintptr_t rcvid)
{
    uint32_t index = ((uint32_t)rcvid - 1) & RCVID_INDEX_MASK; /* beyond the table: no slot */
    if (index >= TABLE_ENTRIES(THREADS) || !TABLE_HAS(thread_table, index)) {
        return NULL;
    }
    struct thread *c = TABLE_AT(thread_table, index);
    __asm__("" : "+r"(c)); /* compute it once */
    if (!c) {
        __builtin_unreachable();
    }
    return c;
}

static inline struct thread *rcvid_client(const struct thread *server, uintptr_t rcvid)
{
    struct thread *c = rcvid_slot(rcvid);

    return c && rcvid_answers(server, c, rcvid) ? c : NULL;
}

/* Return the address of the pointer to the process's channel or connection with this id, or NULL if
 * the id is out of range. The address needs no lock; the pointer is read with the lock. */
static inline struct channel *const *msg_channel_slot(const struct process *proc, uintptr_t chid)
{
    uint32_t i = (uint32_t)chid - 1;
    return i < CONFIG_CHANNELS_PER_PROCESS ? &proc->channels[i] : NULL;
}

static inline struct connection *const *msg_connection_slot(const struct process *proc,
                                                            uintptr_t arg)
{
    uint32_t coid = (uint32_t)arg, side = coid - _NTO_SIDE_CHANNEL;
    if (likely(side < CONFIG_CONNECTIONS_PER_PROCESS)) { /* for example name_open()'s */
        return &proc->side[side];
    }
    return coid < CONFIG_CONNECTIONS_PER_PROCESS ? &proc->fds[coid] : NULL;
}

static inline struct channel *msg_channel(const struct process *proc, uintptr_t chid)
{
    struct channel *const *slot = msg_channel_slot(proc, chid);
    return slot ? *slot : NULL;
}

static inline struct connection *msg_connection(const struct process *proc, uintptr_t arg)
{
    struct connection *const *slot = msg_connection_slot(proc, arg);
    return slot ? *slot : NULL;
}

/* ---- buffers that a blocked thread's arguments describe ---------------------------- */

#define SEND_ARG_SMSG 1
#define SEND_ARG_RMSG 3
#define RECEIVE_ARG_RMSG 1
#define RECEIVE_ARG_INFO 3
#define REPLY_ARG_SMSG 2

/* ---- priorities (msg_wait.c) ------------------------------------------------------- */

/* Lets the server inherit this priority from the message that it received (0: none), as long as it
 * serves the message. */
static inline void msg_inherit(struct thread *server, const struct channel *ch, uint8_t priority)
{
    uint8_t p = ch->flags & _NTO_CHF_FIXED_PRIORITY ? 0 : priority;
    server->msg_priority = p;
    p = p > server->base_priority ? p : server->base_priority;
    p = p > server->sync_priority ? p : server->sync_priority;
    if (p != server->priority) {
        thread_update_priority(server);
    }
}

/* Like msg_inherit(), for a receiver that waits in its channel's queue and has inherited
 * nothing. */
static inline void msg_inherit_waiting(struct thread *receiver, const struct channel *ch,
                                       uint8_t priority)
{
    if (!(ch->flags & _NTO_CHF_FIXED_PRIORITY)) {
        receiver->msg_priority = priority;
        if (unlikely(priority > receiver->priority)) {
            thread_update_priority(receiver);
        }
    }
}

/* Called when a thread of this priority waits in ch's queue: raises the channel's busy servers to
 * at least this priority. */
void msg_boost(struct channel *ch, uint8_t priority);
/* Raises one server, if its priority is lower. */
void msg_raise(struct thread *server, const struct channel *ch, uint8_t priority);

/* ---- queues ------------------------------------------------------------------------ */

uint32_t msg_next_seq(void);
static inline struct pulse *msg_first_pulse(const struct channel *ch)
{
    return list_empty(&ch->pulses) ? NULL : list_entry(ch->pulses.next, struct pulse, link);
}
/* Inserts a thread in SEND into its channel's queue, after those of its priority. */
static inline void msg_insert_sender(struct channel *ch, struct thread *t)
{
    order_insert(&ch->senders_order, &ch->senders, &t->ready, &t->order, t->priority);
    kernel_assert(thread_queue_ordered(&ch->senders));
}
static inline void msg_remove_sender(struct thread *t)
{
    kernel_assert(thread_is_queued(&t->channel->senders, t));
    order_remove(&t->channel->senders_order, &t->ready, &t->order);
}
/* Returns the first waiting receiver that accepts messages (not only pulses), or NULL. */
static inline struct thread *msg_first_receiver(const struct channel *ch)
{
    list_for_each (pos, &ch->receivers) {
        struct thread *t = list_entry(pos, struct thread, ready);
        if (likely(t->call != KER_MSG_RECEIVEPULSEV)) {
            return t;
        }
    }
    return NULL;
}
/* Within a priority the newest receiver is served first (its memory is still in the caches). */
static inline void msg_insert_receiver(struct channel *ch, struct thread *t)
{
    struct list *pos = ch->receivers.next;
    while (pos != &ch->receivers && list_entry(pos, struct thread, ready)->priority > t->priority) {
        pos = pos->next;
    }
    list_insert_before(pos, &t->ready);
}
/* Matches waiting senders with waiting receivers, after a change that makes it possible. */
void msg_match(struct channel *ch);

/* ---- a message reaches its receiver ------------------------------------------------ */

static inline void msg_trace_send(const struct thread *client, const struct channel *ch)
{
    trace_comm_snd_message((uint32_t)client->rcvid, (uint32_t)ch->proc->pid);
}

static inline void msg_trace_receive(const struct thread *client, const struct channel *ch)
{
    trace_comm_rec_message((uint32_t)client->rcvid, (uint32_t)ch->proc->pid);
}

void msg_info_fill(struct _msg_info *info, const struct thread *client);

/* ---- ends -------------------------------------------------------------------------- */

/* Called when client's wait for the reply ends: withdraws an UNBLOCK pulse that has not been
 * received. */
static inline void msg_unblock_done(struct thread *client)
{
    if (unlikely(client->flags & THREAD_UNBLOCK_SENT)) {
        client->flags &= (uint8_t)~THREAD_UNBLOCK_SENT;
        pulse_unqueue(&client->notice);
    }
}

/* Removes a thread in SEND or REPLY from its queue, and ends its MsgSend() with this errno. */
void msg_client_fail(struct thread *client, int error);
/* Ends the call of a thread in RECEIVE with this errno. */
void msg_receiver_fail(struct thread *receiver, int error);

/* ---- pulses ------------------------------------------------------------------------ */

/* Returns whether a program's pulse would be accepted now, and has an entry ready for it. Called
 * before sending, because the trace records the sending before the receipt and must not record a
 * pulse that is refused. (A receiver with a bad buffer is not considered.) */
bool pulse_room(const struct channel *ch, const struct process *sender);
/* Sends a program's pulse, from a pool that only these use, limited per channel and charged to the
 * sender until it is received. Returns 0, or -EAGAIN. */
int pulse_send_user(struct channel *ch, struct process *sender, int priority, int code,
                    uintptr_t value, int scoid);
/* Delivers the first queued pulse to a running receiver. Returns 0, or -EFAULT and it stays
 * queued. */
long pulse_receive(struct thread *self, struct channel *ch);
/* Discards at most this many queued pulses of a channel that is being destroyed. Returns whether
 * none is left. */
bool pulse_discard(struct channel *ch, unsigned most);
/* Called when the object's pulse has left its queue, received or together with its channel: see
 * enum pulse_kind. */
void connection_notice_done(struct pulse *p, const struct channel *ch);
void channel_notice_done(struct pulse *p, const struct channel *ch);
void event_signal_done(struct pulse *p, bool received);
void pulse_init(void);
void connection_init(void);

/* ---- connections and channels ------------------------------------------------------ */

/* Wakes at most this many threads that send through the connection, with an error. Returns whether
 * none is left. */
bool connection_fail_users(const struct connection *conn, int error, unsigned most);
/* Returns a connection with this scoid: one of those that a client has to a channel, or the closed
 * one whose DISCONNECT waits; or NULL. */
struct connection *connection_by_scoid(int32_t scoid);
/* Called when the server's channel has ended. dead: the server has, too. Sends the COIDDEATH
 * pulse. */
void connection_lost(struct connection *conn, bool dead);

#endif
