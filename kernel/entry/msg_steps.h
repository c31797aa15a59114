/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Steps shared by the fast paths of messages (msg_direct.c, msg_wide.c): the checks that each makes
 * before it changes anything, the hand-over of a message, and the way out. Kernel lock held.
 */
#ifndef KERNEL_ENTRY_MSG_STEPS_H
#define KERNEL_ENTRY_MSG_STEPS_H

#include "kernel/arch/cpu.h"
#include "kernel/base/cpu.h"
#include "kernel/entry/exit.h"
#include "kernel/entry/msg_part.h"
#include "kernel/ipc/msg.h"
#include "kernel/thread/sched.h"

#define UNEVEN(bits) (((bits)&3) != 0)
/* For the steps of a call, which are compiled several times: see send_waits(), and `each`, which is
 * a constant. */
#define HELD static inline __attribute__((always_inline))

/*
 * Rare obstacles, or-ed into one word so that one branch tests for all of them. If the word is not
 * 0, self can't simply block:
 *   canstub     thread_block() cancels the call
 *   exit_work   exit_leave() does this work first
 */
static inline uintptr_t cannot_block(const struct cpu *cpu, const struct thread *self)
{
    return cpu->trace.exit_work | self->canstub;
}

/* Returns whether t has a timeout of 0 (block_refused()), is held, or has its message read in
 * pieces. */
static inline bool timeout_unusual(const struct thread *t)
{
    return unlikely(t->timeout_states != 0) &&
           (t->timeout_now || (t->timeout_states & TIMEOUT_STATE_SPECIAL));
}

/* Like thread_update_priority(), for a thread that is in no queue or is about to leave it. */
static inline void direct_set_priority(struct thread *t, uint8_t priority)
{
    if (priority != t->priority) {
        trace_site_change_pri((uint32_t)t->pid, (uint32_t)t->tid, priority, t->priority);
        t->priority = priority;
    }
}

/* ---- MsgSend ------------------------------------------------------------------------ */

/*
 * Tests besides cannot_block():
 *   handoff          a thread was woken before and comes first: sched_switch()
 *   FIXED_PRIORITY   the receiver inherits no priority: msg_inherit_waiting()
 */
static inline bool send_unusual(const struct cpu *cpu, const struct thread *self,
                                const struct channel *ch)
{
    return unlikely((cannot_block(cpu, self) | (uintptr_t)cpu->handoff) != 0) ||
           unlikely(ch->flags & _NTO_CHF_FIXED_PRIORITY);
}

/* Blocks self, whose message has been copied and whose priority is `own`, for the reply, and makes
 * the receiver run. The caller still has to set the receiver's result and to do
 * arch_switch_load()'s part. */
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

/* Like send_finish(), with the events, up to the switch: msg_hand_over(). */
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

/* Makes the changes that few messages need: fills the receiver's _msg_info and arms self's
 * timeout. */
static inline void send_leave_changes(struct thread *self, struct thread *receiver)
{
    if (receiver->info) {
        msg_info_fill(receiver->info, self);
    }
    if (self->timeout_states) {
        timeout_arm(self, STATE_REPLY);
    }
}

/* Returns the first thread that waits on the channel of this connection, or NULL. */
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
 *   UNBLOCK_SENT     the server may have an UNBLOCK pulse to be removed: msg_unblock_done()
 */
static inline bool reply_unusual(const struct cpu *cpu, const struct thread *client)
{
    return unlikely((cpu->trace.exit_work | (uintptr_t)cpu->handoff) != 0) ||
           unlikely(client->flags & THREAD_UNBLOCK_SENT);
}

/* Completes a reply that has been copied to the client, with its events: msg_reply_answered(). */
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

/* Never inlined: the common way out makes no calls, so it need not save registers. */

/* Kicks other CPUs for the remaining READY threads. */
__attribute__((noinline)) struct thread *msg_leave_kicking(struct thread *next);
/* For a receiver that runs next and wants self's _msg_info, or for a self that has a timeout. */
__attribute__((noinline)) struct thread *msg_send_leave_more(struct thread *self,
                                                             struct thread *receiver);
/* For a client whose wait had a timeout. */
__attribute__((noinline)) struct thread *msg_reply_leave_limited(struct thread *self,
                                                                 struct thread *client);

/* Returns whether other CPUs must be kicked. above: sched.above; lock: kernel_lock_at(). */
static inline bool must_kick(uint32_t above)
{
    return CONFIG_CPUS > 1 && above && several_cpus();
}

/* Releases the lock and runs the thread that has this CPU. The accesses after the release need no
 * lock, because no other CPU changes the context of a thread that runs on this one. */
static inline struct thread *msg_direct_leave(struct thread *next, uint32_t above,
                                              volatile uint32_t *lock)
{
    if (must_kick(above)) {
        return msg_leave_kicking(next);
    }
    kernel_unlock_at(lock);
    arch_switch_load(next);
    return exit_to(next);
}

static inline struct thread *send_leave(struct thread *self, struct thread *receiver,
                                        uint32_t above, volatile uint32_t *lock)
{
    long rcvid = self->rcvid; /* without the lock self may end */

    __asm__("" : "+r"(rcvid)); /* loaded with its own width */
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
    return exit_to(receiver);
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
