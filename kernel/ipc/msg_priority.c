/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Priority inheritance through messages, and the priority-ordered queues of channels.
 *
 * A server takes the priority of the message it received until it receives again. While it is busy,
 * a client of higher priority that queues raises every server thread that last received from that
 * channel. A client that is raised while it waits passes that on to the thread it waits for; but a
 * server that waits in MsgReceive() has inherited nothing. Raising never lowers: the next
 * MsgReceive() sets the priority anew. Kernel lock held. Proved by test/unit_ipc.
 */
#include "kernel/ipc/msg_impl.h"
#include "kernel/base/visible.h"
#include "kernel/thread/thread_check.h"

static uint32_t arrivals;     /* [k] */
static uint8_t inherit_depth; /* [k] */

FBT_VISIBLE bool inherit_enter(void)
{
    if (inherit_depth >= CONFIG_INHERIT_DEPTH) {
        return false;
    }
    inherit_depth++;
    return true;
}

FBT_VISIBLE void inherit_leave(void)
{
    kernel_assert(inherit_depth > 0);
    inherit_depth--;
}

FBT_VISIBLE void msg_raise(struct thread *server, const struct channel *ch, uint8_t priority)
{
    if (server->msg_priority >= priority || (ch->flags & _NTO_CHF_FIXED_PRIORITY) ||
        !inherit_enter()) {
        return;
    }
    server->msg_priority = priority;
    if (priority > server->priority) {
        thread_update_priority(server);
    }
    inherit_leave();
}

FBT_VISIBLE void msg_boost(struct channel *ch, uint8_t priority)
{
    if (ch->flags & _NTO_CHF_FIXED_PRIORITY) {
        return;
    }
    uint32_t left = ch->proc->nthreads; /* upper bound of those alive */
    for (unsigned i = 0; left > 0 && i < CONFIG_THREADS_PER_PROCESS; i++) {
        struct thread *s = ch->proc->threads[i];
        if (!s || s->state == STATE_DEAD) {
            continue;
        }
        left--;
        if (s->serving == ch && s->state != STATE_RECEIVE) {
            msg_raise(s, ch, priority);
        }
    }
}

uint32_t msg_next_seq(void)
{
    return arrivals++;
}

FBT_VISIBLE void msg_insert_by_priority(struct list *head, struct thread *t)
{
    struct list *pos = head->prev; /* from the back: most have equal priorities */
    while (pos != head && list_entry(pos, struct thread, ready)->priority < t->priority) {
        pos = pos->prev;
    }
    list_insert_before(pos->next, &t->ready);
    kernel_assert(thread_queue_ordered(head));
}

void msg_sender_requeue(struct thread *t)
{
    kernel_assert(thread_is_queued(&t->channel->senders, t));
    list_remove(&t->ready);
    msg_insert_by_priority(&t->channel->senders, t);
    msg_boost(t->channel, t->priority);
}

void msg_receiver_requeue(struct thread *t)
{
    kernel_assert(thread_is_queued(&t->channel->receivers, t));
    list_remove(&t->ready);
    msg_insert_by_priority(&t->channel->receivers, t);
}

void msg_client_requeue(struct thread *t)
{
    if (t->server && t->server->state != STATE_RECEIVE) {
        msg_raise(t->server, t->channel, t->priority);
    }
}
