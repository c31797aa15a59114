/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the fast paths of messages have in common (msg_direct.c, msg_wide.c): what each looks at
 * before it changes anything, how a message is handed over, and the way out. Kernel lock held.
 */
#ifndef KERNEL_ENTRY_MSG_STEPS_H
#define KERNEL_ENTRY_MSG_STEPS_H

#include "kernel/arch/cpu.h"
#include "kernel/base/cpu.h"
#include "kernel/entry/msg_part.h"
#include "kernel/ipc/msg.h"
#include "kernel/thread/sched.h"

#define UNEVEN(bits) (((bits)&3) != 0)
/* Of a call, compiled several times: see send_waits(), and `each`, a constant. */
#define HELD static inline __attribute__((always_inline))

/*
 * What is hardly ever the case, or-ed into one word: one branch for all of it. Not 0: self can't
 * simply block, because
 *   canstub     thread_block() cancels the call
 *   exit_work   exit_leave() does this work first
 */
static inline uintptr_t cannot_block(const struct cpu *cpu, const struct thread *self)
{
    return cpu->trace.exit_work | self->canstub;
}

/* t's timeout is of 0 (block_refused()), or t is held, or its message is being read in pieces. */
static inline bool timeout_unusual(const struct thread *t)
{
    return unlikely(t->timeout_states != 0) &&
           (t->timeout_now || (t->timeout_states & TIMEOUT_STATE_SPECIAL));
}

/* thread_update_priority() of a thread that is in no queue, or is about to leave it. */
static inline void direct_set_priority(struct thread *t, uint8_t priority)
{
    if (priority != t->priority) {
        trace_site_change_pri((uint32_t)t->pid, (uint32_t)t->tid, priority, t->priority);
        t->priority = priority;
    }
}

/* ---- MsgSend ------------------------------------------------------------------------ */

/*
 * Besides cannot_block():
 *   handoff          a thread was woken before and comes first: sched_switch()
 *   FIXED_PRIORITY   the receiver inherits nothing: msg_inherit_waiting()
 */
static inline bool send_unusual(const struct cpu *cpu, const struct thread *self,
                                const struct channel *ch)
{
    return unlikely((cannot_block(cpu, self) | (uintptr_t)cpu->handoff) != 0) ||
           unlikely(ch->flags & _NTO_CHF_FIXED_PRIORITY);
}

/* The message is copied: self, of priority `own`, waits for the reply, and the receiver runs, but
 * for its result and what arch_switch_load() does. */
static inline void send_finish(struct cpu *cpu, struct thread *self, struct connection *conn,
                               struct channel *ch, struct thread *receiver, uint8_t own,
                               uint8_t priority, uint64_t ran)
{
    receiver->priority = priority;
    receiver->msg_priority = own;
    self->connection = conn;
    self->channel = ch;
    self->server = receiver;
    list_unlink(&receiver->ready);
    sched_hand_over(cpu, self, STATE_REPLY, receiver, ran);
}

/* The same with its events, up to the switch: msg_hand_over(). */
static inline void send_finish_traced(struct cpu *cpu, struct thread *self, struct connection *conn,
                                      struct channel *ch, struct thread *receiver, uint8_t priority)
{
    self->connection = conn;
    self->channel = ch;
    if (receiver->info) {
        msg_info_fill(receiver->info, self);
    }
    msg_trace_send(self, ch);
    thread_set_state(self, STATE_REPLY);
    if (self->timeout_states) {
        timeout_arm(self, STATE_REPLY);
    }
    self->server = receiver;
    receiver->msg_priority = self->priority;
    direct_set_priority(receiver, priority);
    msg_trace_receive(self, ch);
    list_unlink(&receiver->ready);
    thread_result(receiver, self->rcvid, 0);
    sched_wake_handed(cpu, receiver);
}

/* What goes with the message besides: who sent it, and that self waits no longer than it wants. */
static inline void send_leave_changes(struct thread *self, struct thread *receiver)
{
    if (receiver->info) {
        msg_info_fill(receiver->info, self);
    }
    if (self->timeout_states) {
        timeout_arm(self, STATE_REPLY);
    }
}

/* Returns the first thread that waits where this connection leads, or NULL. */
static inline struct thread *send_receiver(const struct connection *conn)
{
    if (!conn) {
        return NULL; /* EBADF */
    }
    const struct channel *ch = conn->channel;
    if (!ch) {
        return NULL; /* the server has ended: ESRCH, or EBADF */
    }
    const struct list *first = ch->receivers.next;
    if (first == &ch->receivers) {
        return NULL; /* msg_send_queue(): self waits in SEND */
    }
    struct thread *receiver = list_entry(first, struct thread, ready);
    __asm__("" : "+r"(receiver)); /* one register, not two */
    if (!receiver) {
        __builtin_unreachable();
    }
    return receiver;
}

/* ---- MsgReply ----------------------------------------------------------------------- */

/*
 *   exit_work        exit_leave() does this work first
 *   handoff          a thread was woken before and comes first: sched_wake()
 *   UNBLOCK_SENT     the server's notice may have to go: msg_unblock_done()
 */
static inline bool reply_unusual(const struct cpu *cpu, const struct thread *client)
{
    return unlikely((cpu->trace.exit_work | (uintptr_t)cpu->handoff) != 0) ||
           unlikely(client->flags & THREAD_UNBLOCK_SENT);
}

/* The client has its reply, with the events: msg_reply_answered(). */
static inline void reply_finish_traced(struct cpu *cpu, struct thread *client, long status)
{
    trace_comm_reply_message((uint32_t)client->tid, (uint32_t)client->pid);
    thread_result(client, status, 0);
    if (client->timeout_states) {
        timeout_disarm(client);
    }
    sched_wake_handed(cpu, client);
}

/* ---- the way out: each releases the lock -------------------------------------------- */

/* Never inlined: the common way out has no calls, so it saves no registers. */

/* Kicks other CPUs for the remaining READY threads. */
__attribute__((noinline)) struct thread *msg_leave_kicking(struct thread *next);
/* The receiver, which runs next, wants to know who self is, or self's wait is limited. */
__attribute__((noinline)) struct thread *msg_send_leave_more(struct thread *self,
                                                             struct thread *receiver);
/* The client's wait was limited. */
__attribute__((noinline)) struct thread *msg_reply_leave_limited(struct thread *self,
                                                                 struct thread *client);

/* above: sched.above; lock: kernel_lock_at(). */
static inline bool must_kick(uint32_t above)
{
    return CONFIG_CPUS > 1 && above && several_cpus();
}

/* The thread that has this CPU runs: what is behind the lock needs none, because nobody else
 * changes the context of a thread that runs here. */
static inline struct thread *msg_direct_leave(struct thread *next, uint32_t above,
                                              volatile uint32_t *lock)
{
    if (must_kick(above)) {
        return msg_leave_kicking(next);
    }
    kernel_unlock_at(lock);
    arch_switch_load(next);
    return next;
}

static inline struct thread *send_leave(struct thread *self, struct thread *receiver,
                                        uint32_t above, volatile uint32_t *lock)
{
    long rcvid = self->rcvid; /* without the lock self may end */

    __asm__("" : "+r"(rcvid)); /* loaded as what it is */
    if (unlikely((uintptr_t)receiver->info | self->timeout_states)) {
        return msg_send_leave_more(self, receiver);
    }
    if (must_kick(above)) {
        arch_context_set_result(receiver, rcvid, 0);
        return msg_leave_kicking(receiver);
    }
    kernel_unlock_at(lock);
    arch_context_set_result(receiver, rcvid, 0);
    arch_switch_load(receiver);
    return receiver;
}

static inline struct thread *reply_leave(struct thread *self, struct thread *client,
                                         volatile uint32_t *lock)
{
    if (unlikely(client->timeout_states)) {
        return msg_reply_leave_limited(self, client);
    }
    kernel_unlock_at(lock);
    arch_context_set_result(self, 0, 0);
    return self;
}

#endif
