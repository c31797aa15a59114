/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages between processes. A SND_MESSAGE's sender is the thread that runs on its CPU; the reply
 * (or error) names the thread replied to; the receive is found by process and rcvid. A message
 * counts as replied to, and has a latency, if all CPUs were covered from its send to its reply.
 */
#include <stdlib.h>

#include "host/stat/stat.h"

enum {
    COMM_SMSG = 0,
    COMM_RMSG = 2,
    COMM_SIGNAL = 9,
    COMM_REPLY = 10,
    COMM_ERROR = 11,
};

static uint64_t stat_key_of(int32_t a, uint32_t b)
{
    return (uint64_t)(uint32_t)a << 32 | b;
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

static void stat_message_sent(struct stat *stat, const struct kev_event *event)
{
    struct thread *sender = stat->cpus[event->cpu].current;
    int32_t from = sender == NULL ? 0 : sender->pid;
    int32_t to = (int32_t)kev_word(event, 1);
    struct pair *pair = get_or_make(stat, &stat->pairs, stat_key_of(from, (uint32_t)to));
    struct open_send *send, **receive;

    if (pair == NULL) {
        return;
    }
    pair->from = from;
    pair->to = to;
    pair->sent++;
    if (stat->watch != NULL) {
        stat->watch->sent(stat->watch->arg, sender, to, event->time);
    }
    if (sender == NULL) {
        return;
    }
    message_over(stat, sender, event->time);
    if (stat->cpus_uncovered > 0) {
        return; /* what becomes of it is not known */
    }
    send = get_or_make(stat, &stat->sends, stat_key_of(sender->pid, (uint32_t)sender->tid));
    receive = get_or_make(stat, &stat->receives, stat_key_of(to, kev_word(event, 0)));
    if (send != NULL) {
        *send = (struct open_send){.pair = pair,
                                   .client = sender,
                                   .sent = event->time,
                                   .epoch = stat->epoch,
                                   .rcvid = kev_word(event, 0),
                                   .to = to};
    }
    if (receive != NULL) {
        *receive = send;
    }
}

/* The receiver runs here, or it waits and is handed the message on the sender's CPU. */
static void server_found(struct stat *stat, const struct kev_event *event, struct open_send *send)
{
    struct cpu *cpu = &stat->cpus[event->cpu];
    struct thread *current = cpu->current;
    bool same = current != NULL && current->pid == (int32_t)kev_word(event, 1);

    if (send != NULL && current == send->client) {
        cpu->handed = send->client;
        cpu->handed_to = send->to;
    } else if (send != NULL && same) {
        send->server_tid = current->tid;
        serve_begin(stat, current, send->client, event->time);
    } else if (send == NULL) { /* it may be either */
        if (same) {
            serve_unknown(stat, current, event->time);
        }
        cpu->handed = NULL;
        cpu->handed_to = (int32_t)kev_word(event, 1);
    }
}

static void stat_message_received(struct stat *stat, const struct kev_event *event)
{
    int32_t to = (int32_t)kev_word(event, 1);
    struct open_send **receive = map_get(&stat->receives, stat_key_of(to, kev_word(event, 0)));
    struct open_send *send = receive == NULL ? NULL : *receive;

    if (to < 0) {
        return; /* a receive that failed */
    }
    if (send != NULL) {
        *receive = NULL;
    }
    if (send == NULL || send->pair == NULL || send->rcvid != kev_word(event, 0) || send->to != to ||
        event->time < send->sent || !stat_known_since(stat, send->epoch)) {
        send = NULL;
    } else {
        send->received = event->time;
        hist_add(&send->pair->wait, event->time - send->sent, send->sent);
    }
    server_found(stat, event, send);
    if (send != NULL && stat->watch != NULL) {
        stat->watch->received(stat->watch->arg, send);
    }
}

static bool stat_compare_slow(const struct slow *a, const struct slow *b)
{
    return a->replied - a->sent > b->replied - b->sent;
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

static void stat_message_replied(struct stat *stat, const struct kev_event *event, bool error)
{
    struct open_send *send =
        map_get(&stat->sends, stat_key_of((int32_t)kev_word(event, 1), kev_word(event, 0)));

    if (send == NULL || send->pair == NULL) {
        return;
    }
    if (stat_known_since(stat, send->epoch) && event->time >= send->sent) {
        hist_add(&send->pair->latency, event->time - send->sent, send->sent);
        slow_add(stat,
                 &(struct slow){send->client->pid, send->client->tid, send->to, send->server_tid,
                                send->sent, send->received, event->time, error});
        send->pair->replied += !error;
        send->pair->errors += error;
        if (stat->watch != NULL) {
            stat->watch->replied(stat->watch->arg, send, event->time, error);
        }
    }
    serve_end(stat, send->client, event->time);
    send->pair = NULL;
}

void message_over(struct stat *stat, struct thread *thread, uint64_t now)
{
    struct open_send *send =
        stat->sends.count == 0
            ? NULL
            : map_get(&stat->sends, stat_key_of(thread->pid, (uint32_t)thread->tid));

    if (send != NULL && send->pair != NULL) {
        serve_end(stat, thread, now);
        send->pair = NULL;
    }
}

static void stat_pulse_sent(struct stat *stat, const struct kev_event *event, unsigned number)
{
    int32_t to = (int32_t)kev_word(event, 1);
    struct pulses *pulses = get_or_make(stat, &stat->pulses, (uint32_t)to);

    if (pulses != NULL) {
        pulses->to = to;
        pulses->count[number]++;
    }
}

void message_event(struct stat *stat, const struct kev_event *event)
{
    unsigned number = event->number & ~TRACE_EVENT_64;

    switch (number) {
    case COMM_SMSG:
        stat_message_sent(stat, event);
        break;
    case COMM_RMSG:
        stat_message_received(stat, event);
        break;
    case COMM_REPLY:
    case COMM_ERROR:
        stat_message_replied(stat, event, number == COMM_ERROR);
        break;
    default:
        if (number < COMM_SIGNAL) {
            stat_pulse_sent(stat, event, number);
        }
        break;
    }
}
