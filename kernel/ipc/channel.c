/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Channels, on which a process receives: ChannelCreate, ChannelDestroy, and the end of either side.
 *
 * Kernel lock held. Errors: unknown flags (EINVAL), a full table (EAGAIN), chids that aren't the
 * caller's (EINVAL). Destroying a channel wakes every thread that is blocked on it: receivers and
 * clients with ESRCH; connections to it remain, unusable (EBADF), until their owners detach them.
 *
 * A channel may have thousands of clients and pulses, so it ends in pieces (KER_AGAIN). Meanwhile
 * it is closed: its process can't receive from it, no process can connect to it, and a message that
 * still reaches it ends like the others. A thread that is ended alone first completes the
 * destruction. Tested by test/kernel (channel_end_test).
 */
#include "kernel/ipc/msg.h"
#include "kernel/base/pool.h"
#include "kernel/base/cpu.h"

#define CHANNEL_FLAGS \
    (_NTO_CHF_FIXED_PRIORITY | _NTO_CHF_UNBLOCK | _NTO_CHF_THREAD_DEATH | _NTO_CHF_DISCONNECT | \
     _NTO_CHF_SENDER_LEN | _NTO_CHF_COID_DISCONNECT | _NTO_CHF_REPLY_LEN)

static TABLE_OF(struct channel, channels, CONFIG_CHANNELS);
static struct pool pool;

void channel_init(void)
{
    TABLE_MAKE(channels, struct channel, TABLE_ENTRIES(CHANNELS));
    pool_init(&pool, TABLE_POOL(channels), sizeof(struct channel), TABLE_ENTRIES(CHANNELS));
    pulse_init();
    connection_init();
}

struct channel *channel_find(struct process *proc, int chid)
{
    kernel_assert(kernel_locked());
    return msg_channel(proc, (uintptr_t)chid);
}

long ker_channel_create(struct thread *self, const uintptr_t *args)
{
    struct process *proc = self->proc;
    unsigned i = 0;
    if (args[0] & ~(uintptr_t)CHANNEL_FLAGS) {
        return -EINVAL;
    }
    while (i < CONFIG_CHANNELS_PER_PROCESS && proc->channels[i]) {
        i++;
    }
    if (i == CONFIG_CHANNELS_PER_PROCESS) {
        return -EAGAIN;
    }
    struct channel *ch = pool_alloc_charged(&pool, &proc->quota, KYMO_LIMIT_CHANNELS);
    if (!ch) {
        return -EAGAIN;
    }
    ch->proc = proc;
    ch->chid = (int32_t)i + 1;
    ch->flags = (uint32_t)args[0];
    list_init(&ch->senders);
    list_init(&ch->receivers);
    list_init(&ch->pulses);
    list_init(&ch->connections);
    proc->channels[i] = ch;
    return ch->chid;
}

/* Removes the channel from its process's table, so that its chid may be used again. */
static void channel_close(struct channel *ch)
{
    struct process *proc = ch->proc;

    kernel_assert(kernel_locked() && proc->channels[ch->chid - 1] == ch);
    proc->channels[ch->chid - 1] = NULL;
    ch->next_closing = proc->closing;
    proc->closing = ch;
}

/* Frees the most recently closed channel of a process. Nothing refers to it any more. */
static void channel_free(struct process *proc)
{
    struct channel *ch = proc->closing;

    kernel_assert(list_empty(&ch->receivers) && list_empty(&ch->senders));
    kernel_assert(list_empty(&ch->connections) && ch->user_pulses == 0);
    for (unsigned i = 0; i < CONFIG_THREADS_PER_PROCESS; i++) {
        if (proc->threads[i] && proc->threads[i]->serving == ch) {
            proc->threads[i]->serving = NULL;
            proc->threads[i]->served = true; /* it may serve clients of another channel, too */
        }
    }
    proc->closing = ch->next_closing;
    quota_release(&proc->quota, KYMO_LIMIT_CHANNELS, 1);
    pool_free(&pool, ch);
}

/* Wakes some of the threads that wait to receive. Returns whether none is left. */
static bool channel_fail_receivers(struct channel *ch)
{
    for (unsigned n = 0; n < PROCESS_GONE_AT_ONCE && !list_empty(&ch->receivers); n++) {
        msg_receiver_fail(list_entry(ch->receivers.next, struct thread, ready), ESRCH);
    }
    return list_empty(&ch->receivers);
}

/* Wakes some of the threads that send through the channel's first connection; when none is left,
 * disconnects the connection. */
static void channel_lose_first(struct channel *ch, bool dead)
{
    struct connection *conn = list_entry(ch->connections.next, struct connection, link);

    if (connection_fail_users(conn, ESRCH, PROCESS_GONE_AT_ONCE)) {
        connection_lost(conn, dead);
    }
}

/*
 * Does a part of the end of proc's most recently closed channel: wakes some waiting threads,
 * removes a connection, or removes some pulses. The pulses are removed last, because clients that
 * detach themselves meanwhile still send their notices. dead: the process ends. Returns false if no
 * closed channel is left.
 */
static bool channel_end_piece(struct process *proc, bool dead)
{
    struct channel *ch = proc->closing;

    if (!ch) {
        return false;
    }
    if (!channel_fail_receivers(ch)) {
        return true;
    }
    if (!list_empty(&ch->connections)) {
        channel_lose_first(ch, dead);
    } else if (pulse_discard(ch, PROCESS_GONE_AT_ONCE)) {
        channel_free(proc);
    }
    return true;
}

/* The first part closes the channel; each part then ends a piece of the channels that the process
 * closed. */
long ker_channel_destroy(struct thread *self, const uintptr_t *args)
{
    struct channel *ch = msg_channel(self->proc, args[0]);

    if (self->step == 0) {
        if (!ch) {
            return -EINVAL;
        }
        channel_close(ch);
        self->step = THREAD_STEP_FINISHES;
    }
    return channel_end_piece(self->proc, false) ? KER_AGAIN : 0;
}

/* Reports the end of t to the channels from chid on that requested it, until one doesn't receive it
 * at once. The pulse is then queued on that channel, and the remaining channels wait. */
static void channel_report_death(struct thread *t, int32_t chid)
{
    struct process *proc = t->proc;

    for (int32_t i = chid - 1; !proc->dying && i < CONFIG_CHANNELS_PER_PROCESS; i++) {
        struct channel *ch = proc->channels[i];
        if (!ch || !(ch->flags & _NTO_CHF_THREAD_DEATH)) {
            continue;
        }
        trace_comm_snd_pulse_dea(0, (uint32_t)proc->pid);
        if (!pulse_notify(ch, &t->notice,
                          (struct pulse){.kind = PULSE_THREAD,
                                         .priority = t->priority,
                                         .code = _PULSE_CODE_THREADDEATH,
                                         .value = (uintptr_t)t->tid})) {
            return;
        }
    }
}

void channel_thread_gone(struct thread *t)
{
    kernel_assert(kernel_locked());
    channel_report_death(t, 1);
}

void channel_notice_done(struct pulse *p, const struct channel *ch)
{
    struct thread *t = list_entry(p, struct thread, notice);

    channel_report_death(t, ch->chid + 1);
    if (!pulse_queued(p) && (t->flags & THREAD_FORGOTTEN)) {
        thread_free(t);
    }
}

/* Programs can't send further pulses to a process that ends: see ker_msg_send_pulse(). */
bool channel_process_gone(struct process *proc)
{
    kernel_assert(kernel_locked() && proc->dying);
    if (channel_end_piece(proc, true)) {
        return true;
    }
    for (unsigned i = 0; i < CONFIG_CHANNELS_PER_PROCESS; i++) {
        if (proc->channels[i]) {
            channel_close(proc->channels[i]);
            return true;
        }
    }
    return false;
}
