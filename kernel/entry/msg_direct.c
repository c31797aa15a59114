/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fast path of messages: the common forms of MsgSendv, MsgReceivev and MsgReplyv, from the call
 * to the resumed thread. Such a call begins here (kernel/entry/kercall.c).
 *
 * The slow path (msg.c and the scheduler) defines the behaviour. A
 * function here does exactly the same, or detects before it has changed anything that it can't, and
 * then calls the slow path. Preconditions of the fast path: a buffer or one part of at most
 * MSG_SMALL bytes, whole words, covered by the thread's user mapping caches; a partner that waits
 * with such a buffer and without a timeout; a switch from the thread that blocks to the handoff
 * thread; no other work on this CPU.
 *
 * What is traced is what runs: while an event of the slow path is on, the same function records it.
 * So each is compiled twice. Without events it does all at once; `traced` it makes the slow path's
 * changes in their order, each with its event, and ends where the slow path's handler ends: the
 * switch and the exit are the same then.
 *
 * Takes the kernel lock, by a copy of its own if another CPU has it and this one must wait. Proved
 * by test/unit_ipc/direct_test.c, which runs each call in all ways and compares all memory and the
 * events; counted by `make bench` (msg_rt_8, msg_rt_8_smp4, msg_rt_8_traced).
 */
#include "kernel/arch/cpu.h"
#include "kernel/entry/msg_direct.h"

#include "kernel/entry/exit.h"
#include "kernel/entry/msg_part.h"
#include "kernel/ipc/msg.h"
#include "kernel/thread/sched.h"
#include "kernel/base/cpu.h"

#define UNEVEN(bits) (((bits)&3) != 0)
/* Of a call with the lock, compiled several times: see send_waits(), and `traced`, a constant. */
#define HELD static inline __attribute__((always_inline))

/*
 * What is hardly ever the case, or-ed into one word: one branch for all of it. Each caller names
 * the rules that stand behind its other bits. Not 0: self can't simply block, because
 *   timeout_states, canstub   thread_block() arms a timeout, or cancels the call
 *   exit_work                 exit_leave() does this work first
 */
static inline uintptr_t cannot_block(const struct cpu *cpu, const struct thread *self)
{
    return self->timeout_states | self->canstub | cpu->trace.exit_work;
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

/* One of the events of a send that hands over the CPU is on. */
static inline bool send_traced(void)
{
    return TRACE_PORT_SITE_ON(TRACE_EV_comm_snd_message) || /* trace_send() */
           TRACE_PORT_SITE_ON(TRACE_EV_comm_rec_message) || /* trace_receive() */
           TRACE_PORT_SITE_ON(TRACE_EV_thread_state) ||     /* thread_block(), thread_wake() */
           TRACE_PORT_SITE_ON(TRACE_EV_change_pri) ||       /* msg_inherit_waiting() */
           TRACE_PORT_SITE_ON(TRACE_EV_kercall_exit);       /* exit_leave(): the receiver's call */
}

/*
 * Besides cannot_block():
 *   handoff          a thread was woken before and comes first: sched_switch()
 *   FIXED_PRIORITY   the receiver inherits nothing: msg_inherit_waiting()
 */
static inline uintptr_t send_unusual(const struct cpu *cpu, const struct thread *self,
                                     const struct channel *ch)
{
    return cannot_block(cpu, self) | (uintptr_t)cpu->handoff |
           (ch->flags & _NTO_CHF_FIXED_PRIORITY);
}

/* The message is copied: self waits for the reply, and the receiver runs. */
static inline void send_finish(struct thread *self, struct connection *conn, struct channel *ch,
                               struct thread *receiver, uint8_t priority)
{
    receiver->priority = priority;
    self->connection = conn;
    self->channel = ch;
    self->server = receiver;
    receiver->msg_priority = self->priority;
    list_unlink(&receiver->ready);
    arch_context_set_result(receiver, self->rcvid, 0);
    sched_hand_over(arch_cpu(), self, STATE_REPLY, receiver);
}

/* The same with its events, up to the switch: msg_hand_over(). */
static inline void send_finish_traced(struct thread *self, struct connection *conn,
                                      struct channel *ch, struct thread *receiver, uint8_t priority)
{
    self->connection = conn;
    self->channel = ch;
    if (receiver->info) {
        msg_info_fill(receiver->info, self);
    }
    msg_trace_send(self, ch);
    thread_set_state(self, STATE_REPLY);
    self->server = receiver;
    receiver->msg_priority = self->priority;
    direct_set_priority(receiver, priority);
    msg_trace_receive(self, ch);
    list_unlink(&receiver->ready);
    thread_result(receiver, self->rcvid, 0);
    sched_wake_handed(arch_cpu(), receiver);
}

/* Sends to a waiting receiver. Returns the receiver, which runs (traced: which is READY and runs
 * next), or NULL. */
HELD struct thread *send_to(struct thread *self, struct connection *conn, struct channel *ch,
                            struct thread *receiver, bool traced)
{
    struct cpu *cpu = arch_cpu();
    void *buffer = receiver->plain;
    struct part s, r;

    if (send_unusual(cpu, self, ch)) {
        return NULL;
    }
    if (!buffer) {
        return NULL; /* plain_buffer(): a timeout, an odd buffer or msg_info; or it is held */
    }
    if (!part_read(self, SEND_ARG_SMSG, &self->out_cache, &s)) {
        return NULL;
    }
    if (s.bytes > MSG_SMALL) {
        return NULL; /* msg_copy(), or pieces; EOVERFLOW */
    }
    if (!part_read(self, SEND_ARG_RMSG, &self->in_cache, &r)) {
        return NULL;
    }
    if (r.bytes > MSG_BYTES_MAX) {
        return NULL; /* EOVERFLOW */
    }
    size_t n = s.bytes < receiver->dstmsglen ? s.bytes : receiver->dstmsglen;
    if (UNEVEN((uintptr_t)s.at | n)) {
        return NULL; /* msg_copy_small() copies bytes */
    }
    uint8_t priority = self->priority > receiver->priority ? self->priority : receiver->priority;
    if (!sched_chosen(cpu, receiver, priority)) {
        return NULL; /* sched_switch() runs another thread, or the receiver elsewhere */
    }
    msg_copy_words(buffer, s.at, n);
    part_keep(&self->args[SEND_ARG_SMSG], &s);
    part_keep(&self->args[SEND_ARG_RMSG], &r);
    self->srcmsglen = (uint32_t)s.bytes;
    self->dstmsglen = (uint32_t)r.bytes;
    self->msglen = (uint32_t)n;
    self->buffer = r.at;
    if (traced) {
        send_finish_traced(self, conn, ch, receiver, priority);
    } else {
        send_finish(self, conn, ch, receiver, priority);
    }
    return receiver;
}

HELD struct thread *direct_send(struct thread *self, bool traced)
{
    if (!traced && send_traced()) {
        return NULL; /* then with its events */
    }
    struct connection *conn = msg_connection(self->proc, self->args[0]);
    if (!conn) {
        return NULL; /* EBADF */
    }
    struct channel *ch = conn->channel;
    if (!ch) {
        return NULL; /* the server has ended: ESRCH, or EBADF */
    }
    struct list *first = ch->receivers.next;
    if (first == &ch->receivers) {
        return NULL; /* msg_send_queue(): self waits in SEND */
    }
    return send_to(self, conn, ch, list_entry(first, struct thread, ready), traced);
}

/* ---- MsgReply ----------------------------------------------------------------------- */

/* One of the events of a reply, after which self keeps the CPU, is on. */
static inline bool reply_traced(void)
{
    return TRACE_PORT_SITE_ON(TRACE_EV_comm_reply_message) || /* reply's own */
           TRACE_PORT_SITE_ON(TRACE_EV_thread_state) ||       /* thread_wake() */
           TRACE_PORT_SITE_ON(TRACE_EV_kercall_exit);         /* exit_leave() */
}

/*
 *   timeout_states   the client's timeout is disarmed: thread_wake()
 *   UNBLOCK_SENT     the server's notice may have to go: msg_unblock_done()
 *   exit_work        exit_leave() does this work first
 */
static inline uintptr_t reply_unusual(const struct cpu *cpu, const struct thread *client)
{
    return client->timeout_states | (client->flags & THREAD_UNBLOCK_SENT) | cpu->trace.exit_work;
}

/* The client has its reply, with the events: msg_reply_answered(). */
static inline void reply_finish_traced(struct thread *client, long status)
{
    trace_comm_reply_message((uint32_t)client->tid, (uint32_t)client->pid);
    thread_result(client, status, 0);
    sched_wake_handed(arch_cpu(), client);
}

HELD bool reply_to(struct thread *self, struct thread *client, bool traced)
{
    struct cpu *cpu = arch_cpu();
    uint8_t *buffer = client->buffer;
    struct part s;

    if (reply_unusual(cpu, client)) {
        return false;
    }
    if (!part_read(self, REPLY_ARG_SMSG, &self->out_cache, &s)) {
        return false;
    }
    if (s.bytes > MSG_SMALL) {
        return false; /* msg_copy(), or pieces; EOVERFLOW */
    }
    size_t n = s.bytes < client->dstmsglen ? s.bytes : client->dstmsglen;
    if (!buffer && n > 0) {
        return false; /* msg_copy() finds the client's buffer, or doesn't: EFAULT for the client */
    }
    if (UNEVEN((uintptr_t)s.at | n | (uintptr_t)buffer)) {
        return false; /* msg_copy_small() copies bytes */
    }
    if (!sched_waits(cpu, self, client)) {
        return false; /* sched_wake() does more than to make it READY */
    }
    msg_copy_words(buffer, s.at, n);
    part_keep(&self->args[REPLY_ARG_SMSG], &s);
    if (traced) {
        reply_finish_traced(client, (long)self->args[1]);
        return true;
    }
    arch_context_set_result(client, (long)self->args[1], 0);
    arch_context_set_result(self, 0, 0);
    sched_wake_waiting(cpu, client);
    return true;
}

HELD bool direct_reply(struct thread *self, bool traced)
{
    if (!traced && reply_traced()) {
        return false; /* then with its events */
    }
    struct thread *client = rcvid_client(self, self->args[0]);
    return client && reply_to(self, client, traced); /* else ESRCH */
}

/* ---- MsgReceive --------------------------------------------------------------------- */

/* One of the events of a receive that blocks is on. */
static inline bool receive_traced(void)
{
    return TRACE_PORT_SITE_ON(TRACE_EV_thread_state) || /* thread_block() */
           TRACE_PORT_SITE_ON(TRACE_EV_change_pri) ||   /* thread_update_priority() */
           TRACE_PORT_SITE_ON(TRACE_EV_kercall_exit);   /* exit_leave(): the next thread's call */
}

/*
 * Besides cannot_block():
 *   xfer        self is in the middle of a long message: msg_receive_continued()
 *   AGAIN       the next thread is in the middle of a call: exit_leave()
 */
static inline uintptr_t receive_unusual(const struct cpu *cpu, const struct thread *self,
                                        const struct thread *next)
{
    return cannot_block(cpu, self) | (uint32_t)self->xfer | (next->flags & THREAD_AGAIN);
}

/* Ends the inheritance for a completed message: self has its own priority again. */
HELD void receive_uninherit(struct thread *self, bool traced)
{
    uint8_t inherited = self->msg_priority;

    self->msg_priority = 0;
    if (inherited != 0 && inherited == self->priority) {
        uint8_t base = self->base_priority, sync = self->sync_priority;
        uint8_t priority = base > sync ? base : sync;
        if (traced) {
            direct_set_priority(self, priority);
        } else {
            self->priority = priority;
        }
    }
}

/* Blocks self on a channel where nothing is queued. Returns next, which runs (traced: which is
 * READY and runs next), or NULL. */
HELD struct thread *receive_wait(struct thread *self, struct channel *ch, struct thread *next,
                                 bool traced)
{
    struct cpu *cpu = arch_cpu();
    struct part r;

    if (receive_unusual(cpu, self, next)) {
        return NULL;
    }
    if (!part_read(self, RECEIVE_ARG_RMSG, &self->in_cache, &r)) {
        return NULL;
    }
    if (r.bytes > MSG_BYTES_MAX) {
        return NULL; /* EOVERFLOW */
    }
    if (!sched_chosen(cpu, next, next->priority)) {
        return NULL; /* sched_switch() runs another thread, or this one elsewhere */
    }
    part_keep(&self->args[RECEIVE_ARG_RMSG], &r);
    self->serving = ch;
    self->channel = ch;
    self->dstmsglen = (uint32_t)r.bytes;
    self->buffer = r.at;
    if (traced) { /* msg_receive_wait() */
        receive_uninherit(self, true);
        thread_set_state(self, STATE_RECEIVE);
    }
    self->plain =
        !msg_info_find(self, self->args[RECEIVE_ARG_INFO]) || UNEVEN((uintptr_t)r.at) ? NULL : r.at;
    if (traced) {
        msg_insert_receiver(ch, self);
        return next;
    }
    receive_uninherit(self, false);
    msg_insert_receiver(ch, self);
    cpu->handoff = NULL;
    sched_hand_over(cpu, self, STATE_RECEIVE, next);
    return next;
}

HELD struct thread *direct_receive(struct thread *self, bool traced)
{
    if (!traced && receive_traced()) {
        return NULL; /* then with its events */
    }
    struct channel *ch = msg_channel(self->proc, self->args[0]);
    struct thread *next = arch_cpu()->handoff;
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
    return receive_wait(self, ch, next, traced);
}

/* ---- from kernel/entry/kercall.c ---------------------------------------------------- */

/*
 * Without the fast path, or with its events: apart, so that nothing of it costs a call that needs
 * neither. Lock held.
 */
static __attribute__((noinline)) struct thread *send_otherwise(struct thread *self, unsigned number)
{
    return send_traced() && direct_send(self, true) ? kercall_blocked(self)
                                                    : kercall_held(self, number);
}

static __attribute__((noinline)) struct thread *receive_otherwise(struct thread *self,
                                                                  unsigned number)
{
    return receive_traced() && direct_receive(self, true) ? kercall_blocked(self)
                                                          : kercall_held(self, number);
}

static __attribute__((noinline)) struct thread *reply_otherwise(struct thread *self,
                                                                unsigned number)
{
    return reply_traced() && direct_reply(self, true) ? kercall_done(self, 0)
                                                      : kercall_held(self, number);
}

/* Kicks other CPUs for the remaining READY threads. */
static __attribute__((noinline)) struct thread *leave_kicking(struct thread *next)
{
    sched_kick_others(arch_cpu());
    kernel_unlock();
    return next;
}

static inline struct thread *msg_direct_leave(struct thread *next)
{
    if (CONFIG_CPUS > 1 && sched.above && several_cpus()) {
        return leave_kicking(next);
    }
    kernel_unlock();
    return next;
}

/* The receiver, which runs next, wants to know who self is. Apart, for it needs calls. */
static __attribute__((noinline)) struct thread *send_leave_info(struct thread *self,
                                                                struct thread *receiver)
{
    msg_info_fill(receiver->info, self);
    return msg_direct_leave(receiver);
}

/* ---- the calls, with the lock ------------------------------------------------------- */

HELD struct thread *send_held(struct thread *self, unsigned number)
{
    struct thread *next = direct_send(self, false);

    if (!next) {
        return send_otherwise(self, number);
    }
    if (unlikely(next->info)) {
        return send_leave_info(self, next);
    }
    return msg_direct_leave(next);
}

HELD struct thread *receive_held(struct thread *self, unsigned number)
{
    struct thread *next = direct_receive(self, false);

    return next ? msg_direct_leave(next) : receive_otherwise(self, number);
}

HELD struct thread *reply_held(struct thread *self, unsigned number)
{
    if (!direct_reply(self, false)) {
        return reply_otherwise(self, number);
    }
    kernel_unlock();
    return self;
}

/* Another CPU has the lock: waits for it, then does the same. Apart, for it needs a call. */
static __attribute__((noinline)) struct thread *send_waits(struct thread *self, unsigned number)
{
    kernel_lock();
    return send_held(self, number);
}

static __attribute__((noinline)) struct thread *receive_waits(struct thread *self, unsigned number)
{
    kernel_lock();
    return receive_held(self, number);
}

static __attribute__((noinline)) struct thread *reply_waits(struct thread *self, unsigned number)
{
    kernel_lock();
    return reply_held(self, number);
}

struct thread *msg_direct_send(struct thread *self, unsigned number)
{
    return likely(kernel_lock_try()) ? send_held(self, number) : send_waits(self, number);
}

struct thread *msg_direct_receive(struct thread *self, unsigned number)
{
    return likely(kernel_lock_try()) ? receive_held(self, number) : receive_waits(self, number);
}

struct thread *msg_direct_reply(struct thread *self, unsigned number)
{
    return likely(kernel_lock_try()) ? reply_held(self, number) : reply_waits(self, number);
}
