/* SPDX-License-Identifier: BSD-2-Clause */
/* kernel_check(): channels and connections. See check.h. */
#include "kernel/arch/panic.h"
#include "kernel/base/kercall.h"
#include "kernel/ipc/ipc.h"
#include "kernel/observe/debug/check.h"
#include "kernel/proc/proc.h"

bool check_is_channel(const struct process *proc, const struct channel *ch)
{
    for (unsigned i = 0; i < CONFIG_CHANNELS_PER_PROCESS; i++) {
        if (proc->channels[i] == ch) {
            return true;
        }
    }
    for (const struct channel *closed = proc->closing; closed; closed = closed->next_closing) {
        if (closed == ch) {
            return true;
        }
    }
    return false;
}

bool check_is_connection(const struct process *proc, const struct connection *conn)
{
    for (unsigned i = 0; i < CONFIG_CONNECTIONS_PER_PROCESS; i++) {
        if (proc->fds[i] == conn || proc->side[i] == conn) {
            return true;
        }
    }
    return false;
}

/* Checks that all threads in a queue of a channel are in that state on that channel, highest
 * priority first. */
static void check_queue(const struct list *head, const struct channel *ch, unsigned state)
{
    int last = 256;
    check_list(head, "a channel's threads");
    for (const struct list *p = head->next; p != head; p = p->next) {
        const struct thread *t = list_entry(p, struct thread, ready);
        if (t->state != state || t->channel != ch || t->priority > last) {
            kernel_panic("thread %d of %d in a channel's queue: state %u, priority %u after %d",
                         (int)t->tid, (int)t->proc->pid, t->state, t->priority, last);
        }
        last = t->priority;
    }
}

static void check_pulses(const struct channel *ch)
{
    unsigned user = 0;
    int last = 256;
    check_list(&ch->pulses, "pulses");
    for (const struct list *p = ch->pulses.next; p != &ch->pulses; p = p->next) {
        const struct pulse *pulse = list_entry(p, struct pulse, link);
        if (pulse->channel != ch || pulse->priority > last) {
            kernel_panic("a pulse is in the wrong place");
        }
        last = pulse->priority;
        user += pulse->kind == PULSE_USER;
    }
    if (user != ch->user_pulses) {
        kernel_panic("%u pulses of programs, counted as %u", user, (unsigned)ch->user_pulses);
    }
}

static void check_channel(const struct channel *ch)
{
    check_queue(&ch->senders, ch, STATE_SEND);
    check_queue(&ch->receivers, ch, STATE_RECEIVE);
    check_pulses(ch);
    if (!list_empty(&ch->receivers) && !list_empty(&ch->pulses)) {
        kernel_panic("a pulse waits beside a receiver");
    }
    bool receiver = false, sender = false;
    for (const struct list *p = ch->receivers.next; p != &ch->receivers; p = p->next) {
        receiver |= list_entry(p, struct thread, ready)->call != KER_MSG_RECEIVEPULSEV;
    }
    for (const struct list *p = ch->senders.next; p != &ch->senders; p = p->next) {
        sender |= !list_entry(p, struct thread, ready)->server;
    }
    if (receiver && sender) {
        kernel_panic("a message waits beside a receiver");
    }
    check_list(&ch->connections, "connections");
    for (const struct list *p = ch->connections.next; p != &ch->connections; p = p->next) {
        const struct connection *conn = list_entry(p, struct connection, link);
        if (conn->channel != ch || !check_is_connection(conn->proc, conn)) {
            kernel_panic("connection %d of process %d leads elsewhere", (int)conn->coid,
                         (int)conn->proc->pid);
        }
    }
}

void check_channels(const struct process *proc)
{
    for (unsigned i = 0; i < CONFIG_CHANNELS_PER_PROCESS; i++) {
        const struct channel *ch = proc->channels[i];
        if (!ch) {
            continue;
        }
        if (ch->proc != proc || ch->chid != (int)i + 1) {
            kernel_panic("channel %d of process %d isn't its own", (int)ch->chid, (int)proc->pid);
        }
        check_channel(ch);
    }
    for (const struct channel *ch = proc->closing; ch; ch = ch->next_closing) {
        if (ch->proc != proc) {
            kernel_panic("closed channel %d of process %d isn't its own", (int)ch->chid,
                         (int)proc->pid);
        }
        check_channel(ch);
    }
}

void check_connection(const struct process *proc, const struct connection *conn, int coid)
{
    if (!conn) {
        return;
    }
    if (conn->proc != proc || conn->coid != coid) {
        kernel_panic("connection %d of process %d isn't its own", coid, (int)proc->pid);
    }
    if (conn->channel && (!check_is_channel(conn->channel->proc, conn->channel) ||
                          !check_in_list(&conn->channel->connections, &conn->link))) {
        kernel_panic("connection %d of process %d leads to no channel", coid, (int)proc->pid);
    }
    for (unsigned i = 0; i < CONFIG_CONNECTIONS_PER_PROCESS; i++) {
        const struct connection *other = proc->fds[i];
        if (other && conn->channel && other->channel == conn->channel &&
            other->scoid != conn->scoid) {
            kernel_panic("two scoids for one client and channel");
        }
    }
}
