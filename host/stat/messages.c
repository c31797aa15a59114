/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages between processes: sums of those that the flow follows. A message has a latency if all
 * CPUs were covered from its send to its reply; one of a client that died, or went on without a
 * reply, is among the slowest as well.
 */
#include <stdlib.h>

#include "host/event_numbers.h"
#include "host/stat/stat.h"

static uint64_t stat_messages_key(uint32_t a, uint32_t b)
{
    return (uint64_t)a << 32 | b;
}

static void *get_or_make(struct stat *stat, struct map *map, uint64_t key)
{
    void *value = map_get(map, key);

    if (value == NULL) {
        value = map_make(map, key);
        stat->overflow += value == NULL;
    }
    return value;
}

static struct thread *stat_messages_row(struct stat *stat, struct flow_thread *of)
{
    return of == NULL ? NULL : stat_thread_of(stat, of);
}

/* from: NULL if the sender is not known. */
static struct pair *stat_messages_pair(struct stat *stat, const struct thread *sender, int32_t pid)
{
    const struct process *from = sender == NULL ? NULL : sender->process;
    const struct process *to = process_get(stat, pid);
    struct pair *pair =
        to == NULL ? NULL
                   : get_or_make(stat, &stat->pairs,
                                 stat_messages_key(from == NULL ? 0 : from->index, to->index));

    if (pair != NULL) {
        pair->from = from;
        pair->to = to;
    }
    return pair;
}

static void stat_message_sent(struct stat *stat, const struct kev_event *event,
                              struct thread *sender, const struct flow_step *step)
{
    int32_t to = (int32_t)kev_word(event, 1);
    struct pair *pair = stat_messages_pair(stat, sender, to);

    if (pair == NULL) {
        return;
    }
    pair->sent++;
    if (stat->watch != NULL) {
        stat->watch->sent(stat->watch->arg, sender, to, event->time);
    }
    if (sender != NULL && step->message == FLOW_SENT) {
        sender->send = (struct open_send){.pair = pair, .sent = stat_now(stat, step->ns)};
    }
}

/* The server's thread has received the client's message. */
static void stat_messages_serve(struct stat *stat, struct thread *client, struct thread *server,
                                uint64_t now)
{
    if (client != NULL && server != NULL) {
        client->send.server = server;
        serve_begin(stat, server, client, now);
    }
}

void message_handed(struct stat *stat, const struct flow_step *step, uint64_t now)
{
    stat_messages_serve(stat, stat_messages_row(stat, step->client),
                        stat_messages_row(stat, step->party), now);
}

static void stat_message_received(struct stat *stat, const struct kev_event *event,
                                  const struct flow_step *step)
{
    struct thread *client = stat_messages_row(stat, step->client);
    struct thread *current = stat->cpus[event->cpu].current;
    int32_t to = (int32_t)kev_word(event, 1);
    uint64_t now = stat_now(stat, step->ns);

    if (step->message == FLOW_NONE) { /* of a client that is not known; it is either's here */
        if (current != NULL && current->pid == to) {
            serve_unknown(stat, current, now);
        }
        stat->cpus[event->cpu].handed_to = to;
        return;
    }
    if (client == NULL || client->send.pair == NULL) {
        return;
    }
    client->send.received = now;
    hist_add(&client->send.pair->wait, now - client->send.sent, client->send.sent);
    stat_messages_serve(stat, client, stat_messages_row(stat, step->party), now);
    if (stat->watch != NULL) {
        stat->watch->received(stat->watch->arg, client);
    }
}

static bool stat_compare_slow(const struct slow *a, const struct slow *b)
{
    return a->ended - a->sent > b->ended - b->sent;
}

/* Among the slowest, if it is one of them: the slowest first, of equal ones the earlier. */
static void slow_add(struct stat *stat, const struct slow *slow)
{
    unsigned at = stat->nslowest;

    if (at == STAT_SLOWEST && !stat_compare_slow(slow, &stat->slowest[at - 1])) {
        return;
    }
    stat->nslowest += at < STAT_SLOWEST;
    for (at = stat->nslowest - 1; at > 0 && stat_compare_slow(slow, &stat->slowest[at - 1]); at--) {
        stat->slowest[at] = stat->slowest[at - 1];
    }
    stat->slowest[at] = *slow;
}

/* The message of a client has ended; neither: it has its reply. */
static void stat_messages_end(struct stat *stat, const struct thread *client, uint64_t now,
                              bool error, bool aborted)
{
    const struct open_send *send = &client->send;

    slow_add(stat, &(struct slow){client, send->server, send->pair->to, send->sent, send->received,
                                  now, error, aborted});
}

static void stat_message_replied(struct stat *stat, const struct flow_step *step, bool error)
{
    struct thread *client =
        step->message == FLOW_REPLIED ? stat_messages_row(stat, step->client) : NULL;
    uint64_t now = stat_now(stat, step->ns);

    if (client == NULL || client->send.pair == NULL) {
        return;
    }
    hist_add(&client->send.pair->latency, now - client->send.sent, client->send.sent);
    stat_messages_end(stat, client, now, error, false);
    client->send.pair->replied += !error;
    client->send.pair->errors += error;
    if (stat->watch != NULL) {
        stat->watch->replied(stat->watch->arg, client, now, error);
    }
    serve_end(stat, client, now);
    client->send.pair = NULL;
}

void message_abandoned(void *arg, const struct flow_thread *of, int64_t ns, enum flow_ending ending)
{
    struct stat *stat = arg;
    struct thread *client = of->mark == FLOW_UNMARKED ? NULL : stat->threads[of->mark];

    if (client == NULL || client->send.pair == NULL) {
        return;
    }
    if (ending == FLOW_ABORTED) {
        stat_messages_end(stat, client, stat_now(stat, ns), false, true);
    }
    serve_end(stat, client, stat_now(stat, ns));
    client->send.pair = NULL;
}

static void stat_pulse_sent(struct stat *stat, const struct kev_event *event, unsigned number)
{
    struct process *to = process_get(stat, (int32_t)kev_word(event, 1));

    if (to != NULL) {
        to->pulses[number]++;
    }
}

void message_event(struct stat *stat, const struct kev_event *event)
{
    unsigned number = event->number & ~(unsigned)TRACE_EVENT_64;
    struct thread *current = stat->cpus[event->cpu].current;
    struct flow_step step;

    if (number == NUMBER_comm_rec_message && (int32_t)kev_word(event, 1) < 0) {
        return; /* a receive that failed */
    }
    stat_flow_take(stat, event, current, &step);
    switch (number) {
    case NUMBER_comm_snd_message:
        stat_message_sent(stat, event, current, &step);
        break;
    case NUMBER_comm_rec_message:
        stat_message_received(stat, event, &step);
        break;
    case NUMBER_comm_reply_message:
    case NUMBER_comm_msg_error:
        stat_message_replied(stat, &step, number == NUMBER_comm_msg_error);
        break;
    default:
        if (number < NUMBER_comm_signal) {
            stat_pulse_sent(stat, event, number);
        }
        break;
    }
}
