/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pulses: small messages without a reply. Kernel lock held.
 *
 * A pulse is copied directly into a waiting receiver's buffer, otherwise into the channel's queue,
 * by priority. Programs' pulses come from one pool, are charged to their sender, and one channel
 * may hold at most USER_PER_CHANNEL of them (EAGAIN). All others are embedded in the object that
 * they report on, so programs can't cause one to be lost by queueing many: the pulses of timers and
 * interrupts, which coalesce; a connection's DISCONNECT or COIDDEATH; a thread's UNBLOCK or
 * THREADDEATH; a process's signals. An object that has ended stays in its table until its notice
 * has been received. Tested by test/kernel (notice_test) and test/board/programs/t_fair.c.
 */
#include "abi/compiler.h"
#include "kernel/ipc/msg.h"
#include "kernel/base/pool.h"
#include "kernel/base/cpu.h"

#define USER_PER_CHANNEL (TABLE_ENTRIES(PULSES) * 2 / 3)

static TABLE_OF(struct user_pulse, pulses, CONFIG_PULSES);
static struct pool pool;

void pulse_init(void)
{
    TABLE_MAKE(pulses, struct user_pulse, TABLE_ENTRIES(PULSES));
    pool_init(&pool, TABLE_POOL(pulses), sizeof(struct user_pulse), TABLE_ENTRIES(PULSES));
}

static void pulse_dequeue(struct pulse *p)
{
    kernel_assert(kernel_locked() && p->channel && pulse_queued(p));
    kernel_assert(p->channel->user_pulses >= (p->kind == PULSE_USER));
    order_remove(&p->channel->pulses_order, &p->link, &p->order);
    p->channel->user_pulses -= p->kind == PULSE_USER;
    p->channel = NULL;
}

void pulse_unqueue(struct pulse *p)
{
    kernel_assert(kernel_locked());
    if (pulse_queued(p)) {
        pulse_dequeue(p);
    }
}

static void pulse_free_user(struct pulse *p)
{
    struct user_pulse *user = list_entry(p, struct user_pulse, pulse);

    process_refund(user->payer, KYMO_LIMIT_PULSES, 1);
    pool_free(&pool, user);
}

/* Called when a pulse has left the queue of ch: it was received, or ch is being destroyed. */
static void pulse_done(struct pulse *p, const struct channel *ch, bool received)
{
    switch ((enum pulse_kind)p->kind) {
    case PULSE_USER:
        pulse_free_user(p);
        break;
    case PULSE_CONNECTION:
        connection_notice_done(p, ch);
        break;
    case PULSE_THREAD:
        channel_notice_done(p, ch);
        break;
    case PULSE_SIGNAL:
        event_signal_done(p, received);
        break;
    case PULSE_EMBEDDED:
        break;
    }
}

static void pulse_enqueue(struct channel *ch, struct pulse *p)
{
    kernel_assert(kernel_locked() && !p->channel && list_empty(&ch->receivers));
    order_insert(&ch->pulses_order, &ch->pulses, &p->link, &p->order, p->priority);
    kernel_assert(p->link.prev == &ch->pulses ||
                  list_entry(p->link.prev, struct pulse, link)->priority >= p->priority);
    p->channel = ch;
    p->seq = msg_next_seq();
    ch->user_pulses += p->kind == PULSE_USER;
    msg_boost(ch, p->priority);
}

/* Copies as much as fits into a receiver's buffer. Returns false if its memory is bad. */
static bool pulse_put(const struct thread *receiver, const struct pulse *p)
{
    struct _pulse out = {.type = _PULSE_TYPE, .subtype = _PULSE_SUBTYPE};
    out.code = p->code;
    out.value.sival_ptr = (void *)p->value;
    out.scoid = p->scoid;
    return msg_put(receiver, RECEIVE_ARG_RMSG, &out, sizeof(out)) >= 0;
}

/* Completes the receipt of a pulse that was copied into the receiver's buffer. */
static void pulse_received(struct thread *receiver, struct channel *ch, const struct pulse *p)
{
    msg_inherit(receiver, ch, p->priority);
    trace_comm_rec_pulse((uint32_t)p->scoid, (uint32_t)ch->proc->pid);
}

/* Delivers to a waiting receiver. Returns false if there is none with a valid buffer. */
static bool pulse_hand_over(struct channel *ch, const struct pulse *p)
{
    while (!list_empty(&ch->receivers)) { /* each iteration ends a receiver's call */
        struct thread *r = list_entry(ch->receivers.next, struct thread, ready);
        if (pulse_put(r, p)) {
            pulse_received(r, ch, p);
            list_remove(&r->ready);
            thread_wake(r, 0, 0);
            return true;
        }
        msg_receiver_fail(r, EFAULT);
    }
    return false;
}

bool pulse_room(const struct channel *ch, const struct process *sender)
{
    kernel_assert(kernel_locked());
    return !list_empty(&ch->receivers) ||
           (ch->user_pulses < USER_PER_CHANNEL && quota_has(&sender->quota, KYMO_LIMIT_PULSES, 1) &&
            (!TABLE_GROWS || pool_ready(&pool)));
}

/* Not inline: make bench follows the path through ker_msg_send_pulse(). */
static __attribute__((noinline)) int pulse_send_to(struct channel *ch, struct process *sender,
                                                   const struct pulse *p)
{
    if (pulse_hand_over(ch, p)) {
        return 0;
    }
    if (ch->user_pulses >= USER_PER_CHANNEL) {
        return -EAGAIN;
    }
    struct user_pulse *queued = pool_alloc_charged(&pool, &sender->quota, KYMO_LIMIT_PULSES);
    if (!queued) {
        return -EAGAIN;
    }
    queued->pulse = *p;
    queued->payer = process_payer(sender);
    pulse_enqueue(ch, &queued->pulse);
    return 0;
}

int pulse_send_user(struct channel *ch, struct process *sender, int priority, int code,
                    uintptr_t value, int scoid)
{
    kernel_assert(kernel_locked());
    const struct pulse p = {.kind = PULSE_USER,
                            .priority = (uint8_t)priority,
                            .code = (int8_t)code,
                            .value = value,
                            .scoid = scoid};
    return pulse_send_to(ch, sender, &p);
}

void pulse_send_prealloc(struct channel *ch, struct pulse *p)
{
    kernel_assert(kernel_locked());
    if (pulse_queued(p)) {
        if (p->channel == ch) {
            return; /* already queued: the caller has stored the newest value */
        }
        pulse_dequeue(p);
    }
    if (!pulse_hand_over(ch, p)) {
        pulse_enqueue(ch, p);
    }
}

bool pulse_notify(struct channel *ch, struct pulse *p, struct pulse notice)
{
    pulse_unqueue(p);
    *p = notice;
    pulse_send_prealloc(ch, p);
    return !pulse_queued(p);
}

long pulse_receive(struct thread *self, struct channel *ch)
{
    kernel_assert(kernel_locked());
    struct pulse *p = msg_first_pulse(ch);
    if (!pulse_put(self, p)) {
        return -EFAULT;
    }
    pulse_received(self, ch, p);
    pulse_dequeue(p);
    pulse_done(p, ch, true);
    return 0;
}

bool pulse_discard(struct channel *ch, unsigned most)
{
    kernel_assert(kernel_locked());
    for (; most > 0 && !list_empty(&ch->pulses); most--) {
        struct pulse *p = msg_first_pulse(ch);
        pulse_dequeue(p);
        pulse_done(p, ch, false);
    }
    return list_empty(&ch->pulses);
}

long ker_msg_send_pulse(struct thread *self, const uintptr_t *args)
{
    struct connection *conn = msg_connection(self->proc, args[0]);
    int32_t priority = (int32_t)args[1];
    int32_t code = (int32_t)args[2];
    if (!conn || !conn->channel) {
        return conn && (conn->flags & CONNECTION_DEAD) ? -ESRCH : -EBADF;
    }
    if (unlikely(conn->channel->proc->dying)) {
        return -ESRCH;
    }
    priority = priority == SIGEV_PULSE_PRIO_INHERIT ? self->priority : priority;
    if (priority < PRIORITY_MIN || priority > PRIORITY_MAX || code < _PULSE_CODE_MINAVAIL ||
        code > _PULSE_CODE_MAXAVAIL) {
        return -EINVAL;
    }
    if (priority > PRIORITY_UNPRIVILEGED_MAX && priority > self->priority &&
        !process_able(self->proc, ABILITY_PRIORITY)) {
        return -EPERM;
    }
    if (!pulse_room(conn->channel, self->proc)) {
        return -EAGAIN;
    }
    trace_comm_snd_pulse((uint32_t)conn->scoid, (uint32_t)conn->channel->proc->pid);
    return pulse_send_user(conn->channel, self->proc, priority, code, args[3], conn->scoid);
}
