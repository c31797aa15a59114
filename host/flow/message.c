/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages: which thread has sent, which has received, who gets the reply (flow.h).
 */
#include <stddef.h>

#include "host/event_numbers.h"
#include "host/flow/own.h"

/* Messages with the same rcvid and server are in a list, whose newest is in the tree. */
static struct flow_thread *flow_message_newest(const struct flow *flow, uint32_t rcvid,
                                               int32_t server)
{
    struct id_node *node = id_tree_find(&flow->messages, id_tree_pair((int32_t)rcvid, server));

    return node == NULL ? NULL : (void *)((char *)node - offsetof(struct flow_thread, rcvid_node));
}

static void flow_message_link(struct flow *flow, struct flow_thread *client)
{
    struct flow_thread *older = flow_message_newest(flow, client->rcvid, client->server);

    client->message_older = older;
    client->message_newer = NULL;
    if (older == NULL) {
        id_tree_add(&flow->messages, &client->rcvid_node,
                    id_tree_pair((int32_t)client->rcvid, client->server));
    } else {
        older->message_newer = client;
        id_tree_replace(&flow->messages, &older->rcvid_node, &client->rcvid_node);
    }
}

static void flow_message_unlink(struct flow *flow, struct flow_thread *client)
{
    struct flow_thread *older = client->message_older, *newer = client->message_newer;

    if (older != NULL) {
        older->message_newer = newer;
    }
    if (newer != NULL) {
        newer->message_older = older;
    } else if (older != NULL) {
        id_tree_replace(&flow->messages, &client->rcvid_node, &older->rcvid_node);
    } else {
        id_tree_remove(&flow->messages, &client->rcvid_node);
    }
}

void flow_message_forget(struct flow *flow, struct flow_thread *client, int64_t ns, bool replied,
                         enum flow_ending ending)
{
    if (client->message == 0) {
        return;
    }
    if (!replied && flow->ops->abandon != NULL) {
        flow->ops->abandon(flow->arg, client, ns, ending);
    }
    if (!client->received) {
        flow_message_unlink(flow, client);
    }
    client->message = 0;
    client->message_mark = FLOW_UNMARKED;
    for (unsigned cpu = 0; cpu < FLOW_CPUS && client->handed; cpu++) {
        if (flow->cpus[cpu].handed == client) {
            flow->cpus[cpu].handed = NULL;
        }
    }
}

void flow_message_step(struct flow_step *step, enum flow_message what, struct flow_thread *client,
                       struct flow_thread *party)
{
    step->message = what;
    step->message_id = client->message;
    step->message_mark = client->message_mark;
    step->client = client;
    step->party = party;
}

static void flow_message_sent(struct flow *flow, struct flow_step *step, const uint32_t *words)
{
    struct flow_thread *client = step->thread;

    flow_message_forget(flow, client, step->ns, false, FLOW_LOST);
    client->message = ++flow->message;
    client->rcvid = words[0];
    client->server = (int32_t)words[1];
    client->received = client->handed = false;
    flow_message_link(flow, client);
    flow_thread_noted(flow, client);
    flow_message_step(step, FLOW_SENT, client, client);
}

/* The event is of the thread that runs: the server's, or the client's, which hands it over. */
static void flow_message_received(struct flow *flow, struct flow_step *step, int cpu,
                                  const uint32_t *words)
{
    struct flow_thread *client = flow_message_newest(flow, words[0], (int32_t)words[1]);

    if (client == NULL) {
        return; /* it was sent before the capture, or in a loss */
    }
    flow_message_unlink(flow, client);
    client->received = true;
    if (step->thread != NULL && step->thread != client && step->thread->pid == client->server) {
        flow_message_step(step, FLOW_RECEIVED, client, step->thread);
        return;
    }
    client->handed = step->thread == client;
    flow->cpus[cpu].handed = client->handed ? client : NULL;
    flow_message_step(step, FLOW_HANDED, client, NULL);
}

void flow_message_event(struct flow *flow, const struct kev_item *item, struct flow_step *step,
                        const uint32_t *words)
{
    bool ends = item->code == NUMBER_comm_reply_message || item->code == NUMBER_comm_msg_error;

    if (!ends) {
        flow_handed_end(&flow->cpus[item->cpu]);
    }
    if (item->code == NUMBER_comm_snd_message && step->thread != NULL && flow->uncovered == 0) {
        flow_message_sent(flow, step, words);
    } else if (item->code == NUMBER_comm_rec_message) {
        flow_message_received(flow, step, item->cpu, words);
    } else if (ends) {
        struct flow_thread *client = flow_thread_of(flow, (int32_t)words[1], (int32_t)words[0]);

        if (client != NULL && client->message != 0) {
            flow_message_step(step, FLOW_REPLIED, client, client);
            flow_message_forget(flow, client, step->ns, true, FLOW_LOST);
        }
    }
}
