/* SPDX-License-Identifier: BSD-2-Clause */
/* world_check(): channels and connections. */
#include "test/unit_ipc/check.h"

bool check_is_channel(const struct process *proc, const struct channel *ch)
{
    for (unsigned i = 0; i < CONFIG_CHANNELS_PER_PROCESS; i++) {
        if (proc->channels[i] == ch) {
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

/* All threads in a queue of a channel are in that state there, highest priority first. */
static void check_queue(const struct list *head, const struct channel *ch, unsigned state)
{
    int last = 256;
    check_list(head, "a channel's threads");
    for (const struct list *p = head->next; p != head; p = p->next) {
        const struct thread *t = list_entry(p, struct thread, ready);
        if (t->state != state || t->channel != ch || t->priority > last) {
            broken("thread %d of %d in a channel's queue: state %u, priority %u after %d", t->tid,
                   t->proc->pid, t->state, t->priority, last);
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
            broken("a pulse is in the wrong place");
        }
        last = pulse->priority;
        user += pulse->of_user;
    }
    if (user != ch->user_pulses) {
        broken("%u pulses of programs, counted as %u", user, ch->user_pulses);
    }
}

void check_channel(const struct process *proc, unsigned i)
{
    const struct channel *ch = proc->channels[i];
    if (!ch) {
        return;
    }
    if (ch->proc != proc || ch->chid != (int)i + 1) {
        broken("channel %d of process %d isn't its own", ch->chid, proc->pid);
    }
    check_queue(&ch->senders, ch, STATE_SEND);
    check_queue(&ch->receivers, ch, STATE_RECEIVE);
    check_pulses(ch);
    if (!list_empty(&ch->receivers) && !list_empty(&ch->pulses)) {
        broken("a pulse waits beside a receiver");
    }
    bool receiver = false, sender = false;
    for (const struct list *p = ch->receivers.next; p != &ch->receivers; p = p->next) {
        receiver |= list_entry(p, struct thread, ready)->call != KER_MSG_RECEIVEPULSEV;
    }
    for (const struct list *p = ch->senders.next; p != &ch->senders; p = p->next) {
        sender |= !list_entry(p, struct thread, ready)->server;
    }
    if (receiver && sender) {
        broken("a message waits beside a receiver");
    }
    check_list(&ch->connections, "connections");
    for (const struct list *p = ch->connections.next; p != &ch->connections; p = p->next) {
        const struct connection *conn = list_entry(p, struct connection, link);
        if (conn->channel != ch || !check_is_connection(conn->proc, conn)) {
            broken("connection %d of process %d leads elsewhere", conn->coid, conn->proc->pid);
        }
    }
}

void check_connection(const struct process *proc, const struct connection *conn, int coid)
{
    if (!conn) {
        return;
    }
    if (conn->proc != proc || conn->coid != coid) {
        broken("connection %d of process %d isn't its own", coid, proc->pid);
    }
    if (conn->channel && (!check_is_channel(conn->channel->proc, conn->channel) ||
                          !check_in_list(&conn->channel->connections, &conn->link))) {
        broken("connection %d of process %d leads to no channel", coid, proc->pid);
    }
    for (unsigned i = 0; i < CONFIG_CONNECTIONS_PER_PROCESS; i++) {
        const struct connection *other = proc->fds[i];
        if (other && conn->channel && other->channel == conn->channel &&
            other->scoid != conn->scoid) {
            broken("two scoids for one client and channel");
        }
    }
}
