/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The steps of the fast path of messages (msg_direct.c, which has the rules): for each call the
 * values that it reads before it has the lock, and the actions that it takes with them. Compiled
 * for calls without events (msg_direct.c) and for calls with events (msg_listened.c).
 */
#ifndef KERNEL_ENTRY_MSG_PLAIN_H
#define KERNEL_ENTRY_MSG_PLAIN_H

#include "kernel/arch/cpu.h"
#include "kernel/entry/msg_steps.h"

/* ---- MsgSend ------------------------------------------------------------------------ */

/* The path that takes over a call of which the fast path has done nothing. */
enum otherwise { BY_WIDE, BY_SLOW };

/* The values that a MsgSendv() has read before it took the lock: see msg_direct.c. */
struct sending {
    struct connection *const *slot; /* of its connection */
    struct part s, r;               /* the message, and where the reply goes */
    uint64_t ran;                   /* sched_ran() */
};

/* Returns false for a call that is left to msg_wide.c or the slow path. */
HELD bool send_read(struct thread *self, const uintptr_t *args, struct sending *call)
{
    call->slot = msg_connection_slot(self->proc, args[0]);
    if (!call->slot) {
        return false; /* EBADF */
    }
    if (timeout_unusual(self)) {
        return false; /* thread_block_limited() */
    }
    if (!part_read(self, args, SEND_ARG_SMSG, &self->out_cache, &call->s)) {
        return false;
    }
    if (unlikely(call->s.bytes > MSG_SMALL)) {
        return false; /* msg_copy(), or pieces; EOVERFLOW */
    }
    if (!part_read(self, args, SEND_ARG_RMSG, &self->in_cache, &call->r)) {
        return false;
    }
    return likely(!MSG_TOO_LONG(call->r.bytes)); /* EOVERFLOW */
}

/* Stores the message's properties in self, for the server and for the reply. */
HELD void send_says(struct thread *self, const struct sending *call)
{
    self->srcmsglen = (uint32_t)call->s.bytes;
    self->dstmsglen = (uint32_t)call->r.bytes;
    self->buffer = call->r.at;
}

/* Sends to a waiting receiver. Returns the receiver, which runs next, or NULL. The caller still has
 * to set its result, to do arch_switch_load()'s part, and to store the message's properties in self
 * (send_says()). *above: sched.above. */
HELD struct thread *send_plain(struct thread *self, const struct sending *call, struct cpu *cpu,
                               enum otherwise *otherwise, uint32_t *above)
{
    struct connection *conn = *call->slot;
    struct thread *receiver = send_receiver(conn);

    if (!receiver) {
        return NULL;
    }
    struct channel *ch = conn->channel;
    void *buffer = receiver->plain;
    if (send_unusual(cpu, self, ch)) {
        return NULL;
    }
    if (!buffer) {
        /* plain_buffer(): a timeout, an unusual buffer or msg_info; or the receiver is held */
        return NULL;
    }
    unsigned own = self->priority;
    unsigned priority = own > receiver->priority ? own : receiver->priority;
    *above = sched.above;
    if (!sched_chosen(cpu, receiver, priority, *above)) {
        *otherwise = BY_SLOW; /* msg_wide.c doesn't handle this either */
        return NULL; /* sched_switch() runs another thread, or the receiver on another CPU */
    }
    size_t n = call->s.bytes < receiver->dstmsglen ? call->s.bytes : receiver->dstmsglen;
    if (!msg_copy_plain(buffer, call->s.at, n)) {
        return NULL; /* msg_copy_small() copies bytes */
    }
    self->msglen = (uint32_t)n;
    send_finish(cpu, self, conn, ch, receiver, (uint8_t)own, (uint8_t)priority, call->ran);
    return receiver;
}

/* ---- MsgReply ----------------------------------------------------------------------- */

/* The values that a MsgReplyv() has read before it took the lock. */
struct replying {
    uintptr_t rcvid;
    struct thread *slot; /* the client, if the rcvid is a client's */
    struct part s;
};

HELD bool reply_read(struct thread *self, const uintptr_t *args, struct replying *call)
{
    call->rcvid = args[0];
    call->slot = rcvid_slot(call->rcvid);
    if (!call->slot) {
        return false; /* ESRCH */
    }
    if (!part_read(self, args, REPLY_ARG_SMSG, &self->out_cache, &call->s)) {
        return false;
    }
    return likely(call->s.bytes <= MSG_SMALL); /* msg_copy(), or pieces; EOVERFLOW */
}

/* Returns whether the client has its reply, but for the result. limited: the client may have a
 * timeout, which then still runs. */
HELD bool reply_plain(struct thread *self, const struct replying *call, struct cpu *cpu,
                      bool limited, enum otherwise *otherwise)
{
    struct thread *client = call->slot;

    if (!rcvid_answers(self, client, call->rcvid)) {
        return false; /* ESRCH; the slot may be free, and has no more to be read then */
    }
    uint8_t *buffer = client->buffer;
    if (limited ? timeout_unusual(client) : unlikely(client->timeout_states != 0)) {
        return false; /* thread_wake(), or the caller's timeout_disarm() */
    }
    if (reply_unusual(cpu, client)) {
        return false;
    }
    size_t n = call->s.bytes < client->dstmsglen ? call->s.bytes : client->dstmsglen;
    if (!buffer && n > 0) {
        /* msg_copy() looks up the client's buffer, or fails with EFAULT for the client */
        return false;
    }
    if (!sched_waits(cpu, self, client)) {
        *otherwise = BY_SLOW;
        return false; /* sched_wake() does more than make the client READY */
    }
    if (!msg_copy_plain(buffer, call->s.at, n)) {
        return false; /* msg_copy_small() copies bytes */
    }
    sched_wake_waiting(cpu, client);
    return true;
}

/* ---- MsgReceive --------------------------------------------------------------------- */

/*
 * Besides cannot_block():
 *   AGAIN       the next thread is in the middle of a call: exit_leave()
 */
static inline bool receive_unusual(const struct cpu *cpu, const struct thread *self,
                                   const struct thread *next)
{
    return unlikely(cannot_block(cpu, self) != 0) || unlikely(next->flags & THREAD_AGAIN);
}

/* The values that a MsgReceivev() has read before it took the lock. */
struct receiving {
    struct channel *const *slot;
    struct part r;
    void *plain;
    struct _msg_info *info;
    uint64_t ran; /* sched_ran() */
};

/*
 *   timeout_states   thread_block() arms a timeout
 *   xfer             self has received a part of a long message: msg_receive_continued()
 */
HELD bool receive_read(struct thread *self, const uintptr_t *args, struct receiving *call)
{
    call->slot = msg_channel_slot(self->proc, args[0]);
    if (!call->slot) {
        return false; /* ESRCH */
    }
    if (self->timeout_states | (uint32_t)self->xfer) {
        return false;
    }
    if (!part_read(self, args, RECEIVE_ARG_RMSG, &self->in_cache, &call->r)) {
        return false;
    }
    bool direct = msg_info_find(self, args[RECEIVE_ARG_INFO], &call->info);
    call->plain = !direct || UNEVEN((uintptr_t)call->r.at) ? NULL : call->r.at;
    return likely(!MSG_TOO_LONG(call->r.bytes)); /* EOVERFLOW */
}

/* Ends the priority inheritance of a completed message: self has its own priority again. */
HELD void receive_uninherit(struct thread *self, bool each)
{
    uint8_t inherited = self->msg_priority;

    self->msg_priority = 0;
    if (inherited != 0 && inherited == self->priority) {
        uint8_t base = self->base_priority, sync = self->sync_priority;
        uint8_t priority = base > sync ? base : sync;
        if (each) {
            direct_set_priority(self, priority);
        } else {
            self->priority = priority;
        }
    }
}

/* Blocks self on a channel where nothing is queued. next runs; with `each`, next is READY and will
 * run. */
HELD void receive_wait(struct thread *self, const struct receiving *call, struct channel *ch,
                       struct cpu *cpu, struct thread *next, bool each)
{
    self->serving = ch;
    self->channel = ch;
    self->dstmsglen = (uint32_t)call->r.bytes;
    self->buffer = call->r.at;
    if (each) { /* msg_receive_wait() */
        receive_uninherit(self, true);
        thread_set_state(self, STATE_RECEIVE);
    }
    self->info = call->info;
    self->plain = call->plain;
    if (each) {
        msg_insert_receiver(ch, self);
        return;
    }
    receive_uninherit(self, false);
    msg_insert_receiver(ch, self);
    cpu->handoff = NULL;
    sched_hand_over(cpu, self, STATE_RECEIVE, next, call->ran);
}

HELD struct thread *receive_plain(struct thread *self, const struct receiving *call,
                                  struct cpu *cpu, bool each, uint32_t *above)
{
    struct channel *ch = *call->slot;
    struct thread *next = cpu->handoff;

    if (!ch) {
        return NULL; /* ESRCH */
    }
    if (!next) {
        return NULL; /* sched_switch() looks for the next thread, or idles */
    }
    if (!list_empty(&ch->senders)) {
        return NULL; /* msg_receive_take() */
    }
    if (!list_empty(&ch->pulses)) {
        return NULL; /* the pulse is received */
    }
    if (receive_unusual(cpu, self, next)) {
        return NULL;
    }
    *above = sched.above;
    if (!sched_chosen(cpu, next, next->priority, *above)) {
        return NULL; /* sched_switch() runs another thread, or this one on another CPU */
    }
    receive_wait(self, call, ch, cpu, next, each);
    return next;
}

#endif
