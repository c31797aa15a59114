/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Internal declarations of message passing (msg*.c, pulse.c, channel.c, connect*.c, event.c).
 * Kernel lock held.
 */
#ifndef KERNEL_IPC_MSG_IMPL_H
#define KERNEL_IPC_MSG_IMPL_H

#include "abi/errno.h"
#include "abi/sys/ability.h"
#include "kernel/base/kercall.h"
#include "kernel/ipc/msg.h"
#include "kernel/ipc/msg_copy.h"
#include "trace/hook.h"

/* Depth to which an inherited priority is passed on (client of a client of …): bounds the kernel
 * stack. Deeper chains keep the priority they had. */
#ifndef CONFIG_INHERIT_DEPTH
#define CONFIG_INHERIT_DEPTH 8
#endif

/* ---- rcvid: names a thread; index + 1 in the table, generation of that place above it ---- */

#define RCVID_INDEX_MASK ((1u << THREAD_RCVID_BITS) - 1)
_Static_assert(CONFIG_THREADS < (1 << THREAD_RCVID_BITS) - 1, "rcvid");

/* Returns the living thread named by the rcvid, in whatever state; or NULL. */
static inline struct thread *rcvid_thread(uintptr_t arg)
{
    uint32_t index = ((uint32_t)arg & RCVID_INDEX_MASK) - 1;
    if (index >= CONFIG_THREADS) {
        return NULL;
    }
    struct thread *t = &thread_table[index];
    return t->rcvid == (int32_t)arg && t->state != STATE_DEAD ? t : NULL;
}

/* Returns the client that a server may reply to under this rcvid: REPLY-blocked on a channel of the
 * server's process; or NULL. */
static inline struct thread *rcvid_client(const struct thread *server, uintptr_t rcvid)
{
    uint32_t index = ((uint32_t)rcvid & RCVID_INDEX_MASK) - 1;
    if (index >= CONFIG_THREADS) {
        return NULL;
    }
    struct thread *c = &thread_table[index];
    __asm__("" : "+r"(c)); /* compute it once */
    if (c->rcvid != (int32_t)rcvid || c->state != STATE_REPLY) {
        return NULL;
    }
    return c->channel->proc == server->proc ? c : NULL;
}

/* ---- buffers that a blocked thread's arguments name -------------------------------- */

#define SEND_ARG_SMSG 1
#define SEND_ARG_RMSG 3
#define RECEIVE_ARG_RMSG 1
#define RECEIVE_ARG_INFO 3
#define REPLY_ARG_SMSG 2

/* ---- lookups ----------------------------------------------------------------------- */

static inline struct channel *msg_channel(const struct process *proc, uintptr_t chid)
{
    uint32_t i = (uint32_t)chid - 1;
    return i < CONFIG_CHANNELS_PER_PROCESS ? proc->channels[i] : NULL;
}

static inline struct connection *msg_connection(const struct process *proc, uintptr_t arg)
{
    uint32_t coid = (uint32_t)arg;
    if (coid < CONFIG_CONNECTIONS_PER_PROCESS) {
        return proc->fds[coid];
    }
    coid -= _NTO_SIDE_CHANNEL;
    return coid < CONFIG_CONNECTIONS_PER_PROCESS ? proc->side[coid] : NULL;
}

/* ---- priorities (msg_priority.c) --------------------------------------------------- */

/* The server inherits this priority from the message it received (0: nothing), as long as it serves
 * it. */
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

/* Like msg_inherit(), for a receiver waiting in its channel's queue, which has inherited
 * nothing. */
static inline void msg_inherit_waiting(struct thread *receiver, const struct channel *ch,
                                       uint8_t priority)
{
    if (!(ch->flags & _NTO_CHF_FIXED_PRIORITY)) {
        receiver->msg_priority = priority;
        if (__builtin_expect(priority > receiver->priority, 0)) {
            thread_update_priority(receiver);
        }
    }
}

/* A thread of this priority waits in ch's queue: raises the channel's busy servers to at least
 * it. */
void msg_boost(struct channel *ch, uint8_t priority);
/* Raises one server, if its priority is lower. */
void msg_raise(struct thread *server, const struct channel *ch, uint8_t priority);
/* Returns false if the chain is too deep to pass the priority on. Each true needs a matching
 * inherit_leave(). */
bool inherit_enter(void);
void inherit_leave(void);

/* ---- queues ------------------------------------------------------------------------ */

/* Inserts a thread into a list of threads (by their ready node), after those of its priority. */
void msg_insert_by_priority(struct list *head, struct thread *t);
uint32_t msg_next_seq(void);
static inline struct pulse *msg_first_pulse(const struct channel *ch)
{
    return list_empty(&ch->pulses) ? NULL : list_entry(ch->pulses.next, struct pulse, link);
}
/* Returns the first sender whose message nobody is copying yet, or NULL. */
struct thread *msg_first_sender(const struct channel *ch);
/* Returns the first waiting receiver that accepts messages (not only pulses), or NULL. */
static inline struct thread *msg_first_receiver(const struct channel *ch)
{
    list_for_each (pos, &ch->receivers) {
        struct thread *t = list_entry(pos, struct thread, ready);
        if (__builtin_expect(t->call != KER_MSG_RECEIVEPULSEV, 1)) {
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

/* ---- a message reaches its receiver (msg.c, msg_receive.c) ------------------------- */

/* Writes the receiver's msg_info, if requested. Returns false if its memory is bad. */
bool msg_put_info_slow(const struct thread *receiver, const struct thread *client);
static inline bool msg_put_info(const struct thread *receiver, const struct thread *client)
{
    return receiver->args[RECEIVE_ARG_INFO] == 0 || msg_put_info_slow(receiver, client);
}
void msg_info_fill(struct _msg_info *info, const struct thread *client);

static inline void trace_receive(const struct thread *client, const struct channel *ch)
{
    trace_comm_rec_message((uint32_t)client->rcvid, (uint32_t)ch->proc->pid);
}

/* Makes a waiting receiver copy this sender's message itself, by restarting its call. */
void msg_start_pieces(struct thread *receiver, struct thread *client);

/* ---- ends -------------------------------------------------------------------------- */

/* Removes a thread in SEND or REPLY from its queue. */
void msg_client_leave(struct thread *client);
/* Removes it and ends its MsgSend() with this errno. */
void msg_client_fail(struct thread *client, int error);
/* Ends the call of a thread in RECEIVE with this errno. */
void msg_receiver_fail(struct thread *receiver, int error);

/* ---- pulses ------------------------------------------------------------------------ */

/* Sends a program's pulse: limited per channel, and leaves a reserve for the kernel's own. */
int pulse_send_user(struct channel *ch, int priority, int code, uintptr_t value, int scoid);
/* Delivers the first queued pulse to a running receiver. Returns 0, or -EFAULT and it stays
 * queued. */
long pulse_receive(struct thread *self, struct channel *ch);
/* Discards all queued pulses of a channel that is being destroyed. */
void pulse_discard_all(struct channel *ch);
void pulse_init(void);
void connection_init(void);

/* ---- connections and channels ------------------------------------------------------ */

/* The priority of a thread in SEND, RECEIVE, REPLY has changed. */
void msg_sender_requeue(struct thread *t);
void msg_receiver_requeue(struct thread *t);
void msg_client_requeue(struct thread *t);
/* Its server's channel is gone. dead: so is the server. Sends the COIDDEATH pulse. */
void connection_lost(struct connection *conn, bool dead);

#endif
