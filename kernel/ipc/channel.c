/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Channels, on which a process receives: ChannelCreate, ChannelDestroy, and the end of either side.
 *
 * Kernel lock held. Refuses unknown flags (EINVAL), a full table (EAGAIN), chids that aren't the
 * caller's (EINVAL). Destroying a channel wakes every blocked thread: receivers and clients with
 * ESRCH; connections to it remain, useless (EBADF), until their owners detach them. Proved by
 * test/unit_ipc.
 */
#include "kernel/arch/irq.h"
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
    pool_init(&pool, channels, sizeof(channels[0]), TABLE_ENTRIES(CHANNELS));
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
    if (i == CONFIG_CHANNELS_PER_PROCESS || !quota_charge(&proc->quota, KYMO_LIMIT_CHANNELS, 1)) {
        return -EAGAIN;
    }
    struct channel *ch = pool_alloc(&pool);
    kernel_assert(ch); /* the system's account has counted them */
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

/* Wakes the threads of a client that wait for a reply from the channel. */
static void channel_fail_clients(const struct channel *ch, const struct process *client)
{
    for (unsigned i = 0; i < CONFIG_THREADS_PER_PROCESS; i++) {
        struct thread *t = client->threads[i];
        if (t && t->state == STATE_REPLY && t->channel == ch) {
            msg_client_fail(t, ESRCH);
        }
    }
}

/* Wakes every thread blocked on the channel. */
static void wake_all(struct channel *ch)
{
    while (!list_empty(&ch->receivers)) {
        msg_receiver_fail(list_entry(ch->receivers.next, struct thread, ready), ESRCH);
    }
    while (!list_empty(&ch->senders)) {
        msg_client_fail(list_entry(ch->senders.next, struct thread, ready), ESRCH);
    }
    list_for_each (pos, &ch->connections) {
        channel_fail_clients(ch, list_entry(pos, struct connection, link)->proc);
        arch_irq_window();
    }
}

static void channel_destroy(struct channel *ch, bool dead)
{
    struct process *proc = ch->proc;
    kernel_assert(kernel_locked() && proc->channels[ch->chid - 1] == ch);
    proc->channels[ch->chid - 1] = NULL;
    for (unsigned i = 0; i < CONFIG_THREADS_PER_PROCESS; i++) {
        if (proc->threads[i] && proc->threads[i]->serving == ch) {
            proc->threads[i]->serving = NULL;
            proc->threads[i]->served = true; /* it may serve clients of another channel, too */
        }
    }
    wake_all(ch);
    kernel_assert(list_empty(&ch->receivers) && list_empty(&ch->senders));
    pulse_discard(ch, UINT32_MAX);
    kernel_assert(ch->user_pulses == 0);
    while (!list_empty(&ch->connections)) {
        connection_lost(list_entry(ch->connections.next, struct connection, link), dead);
        arch_irq_window();
    }
    quota_release(&proc->quota, KYMO_LIMIT_CHANNELS, 1);
    pool_free(&pool, ch);
}

long ker_channel_destroy(struct thread *self, const uintptr_t *args)
{
    struct channel *ch = msg_channel(self->proc, args[0]);
    if (!ch) {
        return -EINVAL;
    }
    channel_destroy(ch, false);
    return 0;
}

/* Reports the end of t to the channels from chid on that asked for it, until one doesn't receive it
 * at once. Then its pulse is queued there, and the others wait. */
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

/* A channel, or some of its pulses if there are many; programs send no further ones: see
 * ker_msg_send_pulse(). */
bool channel_process_gone(struct process *proc)
{
    kernel_assert(kernel_locked() && proc->dying);
    for (unsigned i = 0; i < CONFIG_CHANNELS_PER_PROCESS; i++) {
        if (!proc->channels[i]) {
            continue;
        }
        if (pulse_discard(proc->channels[i], PROCESS_GONE_AT_ONCE)) {
            channel_destroy(proc->channels[i], true);
        }
        return true;
    }
    return false;
}
