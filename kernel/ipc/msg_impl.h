/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of message passing (msg*.c, pulse.c, channel.c, connect*.c, event.c) share and
 * nobody else uses. Kernel lock held.
 */
#ifndef KERNEL_IPC_MSG_IMPL_H
#define KERNEL_IPC_MSG_IMPL_H

#include "abi/errno.h"
#include "abi/sys/ability.h"
#include "kernel/base/kercall.h"
#include "kernel/ipc/msg.h"
#include "kernel/ipc/msg_copy.h"
#include "trace/hook.h"

/* How deep an inherited priority is handed on (client of a client of …): bounds the kernel stack.
 * Deeper chains keep the priority they had. */
#ifndef CONFIG_INHERIT_DEPTH
#define CONFIG_INHERIT_DEPTH 8
#endif

/* ---- rcvid: names a thread; index + 1 in the table, generation of that place above it ---- */

#define RCVID_INDEX_MASK ((1u << THREAD_RCVID_BITS) - 1)
_Static_assert(CONFIG_THREADS < (1 << THREAD_RCVID_BITS) - 1, "rcvid");

/* The living thread that the rcvid names, whatever it does now; or NULL. */
static inline struct thread *rcvid_thread(uintptr_t arg)
{
    uint32_t index = ((uint32_t)arg & RCVID_INDEX_MASK) - 1;
    if (index >= CONFIG_THREADS) {
        return NULL;
    }
    struct thread *t = &thread_table[index];
    return t->rcvid == (int32_t)arg && t->state != STATE_DEAD ? t : NULL;
}

/* The client that a server may answer under this rcvid: REPLY-blocked on a channel of its process;
 * or NULL. */
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

/* A server takes this priority from what it received (0: nothing), for as long as it serves it. */
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

/* The same for a receiver that waits in its channel's queue, and so has inherited nothing. */
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

/* Somebody of this priority waits in ch's queue: its busy servers run at least that high. */
void msg_boost(struct channel *ch, uint8_t priority);
/* Raises one server, if it is lower. */
void msg_raise(struct thread *server, const struct channel *ch, uint8_t priority);
/* False: too deep, don't hand the priority on. Each true is followed by a leave. */
bool inherit_enter(void);
void inherit_leave(void);

/* ---- queues ------------------------------------------------------------------------ */

/* Puts a thread in a list of threads (by their ready node), after those of its priority. */
void msg_insert_by_priority(struct list *head, struct thread *t);
uint32_t msg_next_seq(void);
static inline struct pulse *msg_first_pulse(const struct channel *ch)
{
    return list_empty(&ch->pulses) ? NULL : list_entry(ch->pulses.next, struct pulse, link);
}
/* First sender that nobody is copying yet, or NULL. */
struct thread *msg_first_sender(const struct channel *ch);
/* First waiting receiver that takes messages (not only pulses), or NULL. */
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
/* The newest receiver of a priority is served first (its memory is still in the caches). */
static inline void msg_insert_receiver(struct channel *ch, struct thread *t)
{
    struct list *pos = ch->receivers.next;
    while (pos != &ch->receivers && list_entry(pos, struct thread, ready)->priority > t->priority) {
        pos = pos->next;
    }
    list_insert_before(pos, &t->ready);
}
/* Brings waiting senders to waiting receivers, after a change made that possible. */
void msg_match(struct channel *ch);

/* ---- a message reaches its receiver (msg.c, msg_receive.c) ------------------------- */

/* Writes the receiver's msg_info, if it asked for it. False: its memory is bad. */
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

/* A waiting receiver begins to copy this sender's message itself, by its call made again. */
void msg_start_pieces(struct thread *receiver, struct thread *client);

/* ---- ends -------------------------------------------------------------------------- */

/* A thread in SEND or REPLY leaves its queue. */
void msg_client_leave(struct thread *client);
/* It leaves, and its MsgSend() ends with this errno. */
void msg_client_fail(struct thread *client, int error);
/* A thread in RECEIVE: its call ends with this errno. */
void msg_receiver_fail(struct thread *receiver, int error);

/* ---- pulses ------------------------------------------------------------------------ */

/* A program's pulse: has a limit per channel and leaves a reserve for the kernel's own. */
int pulse_send_user(struct channel *ch, int priority, int code, uintptr_t value, int scoid);
/* Hands the first queued pulse to a running receiver: 0, or -EFAULT and it stays queued. */
long pulse_receive(struct thread *self, struct channel *ch);
/* All queued pulses go: the channel does. */
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
