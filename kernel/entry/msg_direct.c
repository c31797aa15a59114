/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fast path of messages: the common forms of MsgSendv, MsgReceivev and MsgReplyv, from the call
 * to the resumed thread. Such a call begins here (kernel/entry/kercall.c).
 *
 * The slow path (msg.c and the scheduler) defines the behaviour. A function here does exactly the
 * same, or detects before it has changed anything that it can't, and then calls msg_wide.c, or the
 * slow path. Preconditions: a buffer or one part of at most MSG_SMALL bytes, whole words, covered
 * by the thread's user mapping caches; a partner that waits with such a buffer, a receiver without
 * a timeout; a switch from the thread that blocks to the handoff thread; no other work on this CPU.
 *
 * One site (TRACE_EV_messages) stands for all events of the slow path, so each function is compiled
 * for two cases: no event is on; or the log is their only listener, and has them behind the changes
 * (msg_log.h). If D listens, or the gate is armed, calls go to msg_wide.c, or here (EACH), where
 * the slow path's changes are made in their order, each with its event.
 *
 * A client may have limited its wait. TimerTimeout() in its common form is here as well, because it
 * comes with each such message.
 *
 * Takes the kernel lock, by a copy of its own if another CPU has it and this one must wait. Proved
 * by test/unit_ipc/direct_test.c, which runs each call in all ways and compares all memory and the
 * events; counted by `make bench` (msg_rt_8, msg_rt_8_timeout, msg_rt_8_smp4, msg_rt_8_traced).
 */
#include "kernel/entry/msg_direct.h"

#include "kernel/arch/cpu.h"
#include "kernel/entry/exit.h"
#include "kernel/entry/msg_log.h"
#include "kernel/entry/msg_steps.h"

/* Who takes a call of which nothing has been done here. */
enum otherwise { BY_WIDE, BY_SLOW, BY_LOGGED, BY_EACH };

/* Looks at the site of messages, where no event is on in the common case. Returns false if one is,
 * and who takes the call then. */
HELD bool no_events(enum otherwise *otherwise)
{
    switch (TRACE_PORT_SITE(TRACE_EV_messages)) {
    case TRACE_SITE_OFF:
        return true;
    case TRACE_SITE_LOG:
        *otherwise = BY_LOGGED;
        break;
    case TRACE_SITE_ALL:
        *otherwise = BY_EACH;
        break;
    }
    return false;
}

/* ---- MsgSend ------------------------------------------------------------------------ */

/* Sends to a waiting receiver. Returns the receiver, which runs, or NULL. */
HELD struct thread *send_plain(struct thread *self, struct connection *conn, struct channel *ch,
                               struct thread *receiver, bool logged, enum otherwise *otherwise)
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
        *otherwise = BY_SLOW; /* nor would msg_wide.c take it */
        return NULL;          /* sched_switch() runs another thread, or the receiver elsewhere */
    }
    msg_copy_words(buffer, s.at, n);
    self->srcmsglen = (uint32_t)s.bytes;
    self->dstmsglen = (uint32_t)r.bytes;
    self->msglen = (uint32_t)n;
    self->buffer = r.at;
    send_finish(self, conn, ch, receiver, priority, logged);
    return receiver;
}

HELD struct thread *direct_send(struct thread *self, bool logged, enum otherwise *otherwise)
{
    struct connection *conn;

    if (!logged && !no_events(otherwise)) {
        return NULL;
    }
    if (timeout_unusual(self)) {
        return NULL; /* thread_block_limited() */
    }
    struct thread *receiver = send_receiver(self, &conn);
    return receiver ? send_plain(self, conn, conn->channel, receiver, logged, otherwise) : NULL;
}

/* ---- MsgReply ----------------------------------------------------------------------- */

HELD bool reply_plain(struct thread *self, struct thread *client, bool logged,
                      enum otherwise *otherwise)
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
        *otherwise = BY_SLOW;
        return false; /* sched_wake() does more than to make it READY */
    }
    msg_copy_words(buffer, s.at, n);
    reply_finish(self, client, logged);
    return true;
}

/* Returns the client, which has its reply (its timeout may still run), or NULL. */
HELD struct thread *direct_reply(struct thread *self, bool logged, enum otherwise *otherwise)
{
    if (!logged && !no_events(otherwise)) {
        return NULL;
    }
    struct thread *client = rcvid_client(self, self->args[0]);
    if (!client) {
        return NULL; /* ESRCH */
    }
    if (timeout_unusual(client)) {
        return NULL; /* thread_wake() */
    }
    return reply_plain(self, client, logged, otherwise) ? client : NULL;
}

/* ---- MsgReceive --------------------------------------------------------------------- */

/* What comes with the events: nothing, all of them behind the changes, or each with its change. */
enum way { SILENT, LOGGED, EACH };

/*
 * Besides cannot_block():
 *   timeout_states   thread_block() arms a timeout
 *   xfer        self is in the middle of a long message: msg_receive_continued()
 *   AGAIN       the next thread is in the middle of a call: exit_leave()
 */
static inline uintptr_t receive_unusual(const struct cpu *cpu, const struct thread *self,
                                        const struct thread *next)
{
    return self->timeout_states | cannot_block(cpu, self) | (uint32_t)self->xfer |
           (next->flags & THREAD_AGAIN);
}

/* Ends the inheritance for a completed message: self has its own priority again. */
HELD void receive_uninherit(struct thread *self, enum way way)
{
    uint8_t inherited = self->msg_priority;

    self->msg_priority = 0;
    if (inherited != 0 && inherited == self->priority) {
        uint8_t base = self->base_priority, sync = self->sync_priority;
        uint8_t priority = base > sync ? base : sync;
        if (way == EACH) {
            direct_set_priority(self, priority);
        } else {
            self->priority = priority;
        }
    }
}

/* Blocks self on a channel where nothing is queued. Returns next, which runs (EACH: which is READY
 * and runs next), or NULL. */
HELD struct thread *receive_wait(struct thread *self, struct channel *ch, struct thread *next,
                                 enum way way)
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
    self->serving = ch;
    self->channel = ch;
    self->dstmsglen = (uint32_t)r.bytes;
    self->buffer = r.at;
    if (way == EACH) { /* msg_receive_wait() */
        receive_uninherit(self, way);
        thread_set_state(self, STATE_RECEIVE);
    }
    self->plain =
        !msg_info_find(self, self->args[RECEIVE_ARG_INFO]) || UNEVEN((uintptr_t)r.at) ? NULL : r.at;
    if (way == EACH) {
        msg_insert_receiver(ch, self);
        return next;
    }
    receive_uninherit(self, way);
    msg_insert_receiver(ch, self);
    cpu->handoff = NULL;
    sched_hand_over(cpu, self, STATE_RECEIVE, next);
    return next;
}

HELD struct thread *direct_receive(struct thread *self, enum way way, enum otherwise *otherwise)
{
    if (way == SILENT && !no_events(otherwise)) {
        return NULL;
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
    return receive_wait(self, ch, next, way);
}

/* ---- the way out: apart, because it needs calls ------------------------------------- */

struct thread *msg_leave_kicking(struct thread *next)
{
    sched_kick_others(arch_cpu());
    kernel_unlock();
    return next;
}

/* What goes with the message besides: who sent it, and that self waits no longer than it wants. */
static void send_leave_changes(struct thread *self, struct thread *receiver)
{
    if (receiver->info) {
        msg_info_fill(receiver->info, self);
    }
    if (self->timeout_states) {
        timeout_arm(self, STATE_REPLY);
    }
}

struct thread *msg_send_leave_more(struct thread *self, struct thread *receiver)
{
    send_leave_changes(self, receiver);
    return msg_direct_leave(receiver);
}

struct thread *msg_reply_leave_limited(struct thread *self, struct thread *client)
{
    timeout_disarm(client);
    kernel_unlock();
    return self;
}

/* ---- the calls, with the lock and the log ------------------------------------------- */

static __attribute__((noinline)) struct thread *send_logged(struct thread *self, unsigned number)
{
    enum otherwise otherwise = BY_WIDE;
    struct thread *receiver = direct_send(self, true, &otherwise);

    if (unlikely(!receiver)) {
        return otherwise == BY_SLOW ? kercall_held(self, number) : msg_wide_send(self, number);
    }
    if (unlikely((uintptr_t)receiver->info | self->timeout_states)) {
        send_leave_changes(self, receiver);
    }
    send_log(self, receiver);
    return logged_leave_switched(receiver);
}

static __attribute__((noinline)) struct thread *receive_each(struct thread *self, unsigned number)
{
    enum otherwise otherwise = BY_SLOW;

    return direct_receive(self, EACH, &otherwise) ? kercall_blocked(self)
                                                  : kercall_held(self, number);
}

static __attribute__((noinline)) struct thread *receive_logged(struct thread *self, unsigned number)
{
    enum otherwise otherwise = BY_SLOW;
    struct thread *next = direct_receive(self, LOGGED, &otherwise);

    if (unlikely(!next)) {
        return kercall_held(self, number);
    }
    receive_log(self, next);
    return logged_leave_switched(next);
}

static __attribute__((noinline)) struct thread *reply_logged(struct thread *self, unsigned number)
{
    enum otherwise otherwise = BY_WIDE;
    struct thread *client = direct_reply(self, true, &otherwise);

    if (unlikely(!client)) {
        return otherwise == BY_SLOW ? kercall_held(self, number) : msg_wide_reply(self, number);
    }
    if (unlikely(client->timeout_states)) {
        timeout_disarm(client);
    }
    reply_log(client);
    return logged_leave(self);
}

/* ---- the calls, with the lock ------------------------------------------------------- */

HELD struct thread *send_held(struct thread *self, unsigned number)
{
    enum otherwise otherwise = BY_WIDE;
    struct thread *next = direct_send(self, false, &otherwise);

    if (next) {
        return send_leave(self, next);
    }
    if (otherwise == BY_LOGGED) {
        return send_logged(self, number);
    }
    return otherwise == BY_SLOW ? kercall_held(self, number) : msg_wide_send(self, number);
}

HELD struct thread *receive_held(struct thread *self, unsigned number)
{
    enum otherwise otherwise = BY_SLOW;
    struct thread *next = direct_receive(self, SILENT, &otherwise);

    if (next) {
        return msg_direct_leave(next);
    }
    if (otherwise == BY_LOGGED) {
        return receive_logged(self, number);
    }
    return otherwise == BY_EACH ? receive_each(self, number) : kercall_held(self, number);
}

HELD struct thread *reply_held(struct thread *self, unsigned number)
{
    enum otherwise otherwise = BY_WIDE;
    struct thread *client = direct_reply(self, false, &otherwise);

    if (client) {
        return reply_leave(self, client);
    }
    if (otherwise == BY_LOGGED) {
        return reply_logged(self, number);
    }
    return otherwise == BY_SLOW ? kercall_held(self, number) : msg_wide_reply(self, number);
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

/* ---- TimerTimeout ------------------------------------------------------------------- */

/* A relative time beside self's messages, and nothing else. Returns false, with nothing done, if
 * the call is of another form. */
HELD bool direct_timeout(struct thread *self)
{
    const uintptr_t *args = self->args;
    uint32_t states = (uint32_t)args[1];
    const uint64_t *ns = vm_cache_ptr(&self->out_cache, args[3]);

    if (args[0] > CLOCK_MONOTONIC) {
        return false; /* EINVAL */
    }
    if (states & ~(TIMEOUT_STATES & ~_NTO_TIMEOUT_NANOSLEEP)) {
        return false; /* EINVAL, TIMER_ABSTIME; or it sleeps here */
    }
    if ((args[2] | args[4]) != 0) {
        return false; /* an event; the rest of the last timeout is wanted */
    }
    if (!ns || (args[3] & (sizeof(*ns) - 1))) {
        return false; /* timeout_time() */
    }
    uint64_t limit = *(const volatile uint64_t *)ns; /* read once */
    if (limit == 0) {
        return false; /* the next call does not block */
    }
    if (TRACE_PORT_SITE_ON(TRACE_EV_kercall_exit) || arch_cpu()->trace.exit_work) {
        return false; /* kercall_leave() */
    }
    if (CONFIG_CPUS > 1 && arch_cpu()->kept) {
        return false; /* kercall_held_reading(), though the event may be off by now */
    }
    self->timeout_at = clock_expiry_after(limit);
    self->timeout_states = states;
    self->timeout_now = false;
    return true;
}

HELD struct thread *timeout_held(struct thread *self, unsigned number)
{
    if (unlikely(!direct_timeout(self))) {
        return CONFIG_CPUS > 1 ? kercall_held_reading(self, number) : kercall_held(self, number);
    }
    arch_context_set_result(self, 0, 0);
    kernel_unlock();
    return self;
}

static __attribute__((noinline)) struct thread *timeout_waits(struct thread *self, unsigned number)
{
    kernel_lock();
    return timeout_held(self, number);
}

struct thread *msg_direct_timeout(struct thread *self, unsigned number)
{
    return likely(kernel_lock_try()) ? timeout_held(self, number) : timeout_waits(self, number);
}
