/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages between processes. A SND_MESSAGE's sender is the thread that runs on its CPU; the reply
 * (or error) names the thread replied to; the receive is found by process and rcvid.
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

static uint64_t key_of(int32_t a, uint32_t b)
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

static void message_sent(struct stat *stat, const struct kev_event *event)
{
    struct thread *sender = stat->cpus[event->cpu].current;
    int32_t from = sender == NULL ? 0 : sender->pid;
    int32_t to = (int32_t)kev_word(event, 1);
    struct pair *pair = get_or_make(stat, &stat->pairs, key_of(from, (uint32_t)to));
    struct open_send *send, **receive;

    if (pair == NULL) {
        return;
    }
    pair->from = from;
    pair->to = to;
    pair->sent++;
    if (sender == NULL) {
        return;
    }
    send = get_or_make(stat, &stat->sends, key_of(sender->pid, (uint32_t)sender->tid));
    receive = get_or_make(stat, &stat->receives, key_of(to, kev_word(event, 0)));
    if (send != NULL) {
        *send = (struct open_send){pair, event->time, kev_word(event, 0), to};
    }
    if (receive != NULL) {
        *receive = send;
    }
}

static void message_received(struct stat *stat, const struct kev_event *event)
{
    struct open_send **receive =
        map_get(&stat->receives, key_of((int32_t)kev_word(event, 1), kev_word(event, 0)));
    struct open_send *send = receive == NULL ? NULL : *receive;

    if (send == NULL) {
        return;
    }
    *receive = NULL;
    if (send->pair != NULL && send->rcvid == kev_word(event, 0) && event->time >= send->sent) {
        hist_add(&send->pair->wait, event->time - send->sent);
    }
}

static void message_replied(struct stat *stat, const struct kev_event *event, bool error)
{
    struct open_send *send =
        map_get(&stat->sends, key_of((int32_t)kev_word(event, 1), kev_word(event, 0)));

    if (send == NULL || send->pair == NULL) {
        return;
    }
    if (event->time >= send->sent) {
        hist_add(&send->pair->latency, event->time - send->sent);
    }
    send->pair->replied += !error;
    send->pair->errors += error;
    send->pair = NULL;
}

static void pulse_sent(struct stat *stat, const struct kev_event *event, unsigned number)
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
        message_sent(stat, event);
        break;
    case COMM_RMSG:
        message_received(stat, event);
        break;
    case COMM_REPLY:
    case COMM_ERROR:
        message_replied(stat, event, number == COMM_ERROR);
        break;
    default:
        if (number < COMM_SIGNAL) {
            pulse_sent(stat, event, number);
        }
        break;
    }
}
