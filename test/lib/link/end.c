/* SPDX-License-Identifier: BSD-2-Clause */
/* See end.h. */
#include "test/lib/link/end.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/lib/link/line.h"

static uint32_t mix(uint32_t a, uint32_t b)
{
    uint32_t n = (a ^ (b * 0x9e3779b1u)) * 0x85ebca6bu;

    n ^= n >> 13;
    n *= 0xc2b2ae35u;
    return n ^ n >> 16;
}

/* Mostly short, some of a few frames, some long; zeros in plenty, for COBS. */
size_t end_message_bytes(uint32_t conversation, uint8_t sender, uint32_t message)
{
    uint32_t n = mix(mix(conversation, sender), message);

    switch (n % 16) {
    case 0:
        return 0;
    case 1:
        return 40000 + n / 16 % 20000;
    case 2:
    case 3:
    case 4:
        return n / 16 % 3000;
    default:
        return 1 + n / 16 % 100;
    }
}

static uint8_t message_byte(uint32_t conversation, uint8_t sender, uint32_t message, size_t at)
{
    uint32_t n = mix(mix(conversation, sender), message) + (uint32_t)at * 31;

    return n % 5 == 0 ? 0 : n % 7 == 0 ? 0xff : (uint8_t)(n >> 3);
}

static void up(void *context)
{
    struct end *end = context;

    end->ups++;
}

static void down(void *context, enum link_down why)
{
    struct end *end = context;

    end->downs++;
    end->why = why;
    memset(end->talk, 0, sizeof(end->talk));
}

static long open_came(void *context, unsigned channel, const char *service)
{
    struct end *end = context;
    struct talk *talk = &end->talk[channel];

    assert_false(talk->open);
    if (end->refuses) {
        return -2;
    }
    assert_true(end->careless || service[0] == 's');
    memset(talk, 0, sizeof(*talk));
    talk->open = true;
    talk->number = (uint32_t)strtoul(service + 1, NULL, 10);
    talk->allowed = 100 + random_below(5000);
    return talk->allowed;
}

static void opened(void *context, unsigned channel)
{
    struct end *end = context;

    assert_true(end->talk[channel].open);
}

static void data(void *context, unsigned channel, const uint8_t *bytes, size_t count, size_t offset,
                 size_t total)
{
    struct end *end = context;
    struct talk *talk = &end->talk[channel];
    uint8_t sender = end->role == LINK_HOST ? LINK_TARGET : LINK_HOST;

    assert_true(talk->open);
    talk->used += link_cost(count, offset);
    assert_true(talk->used <= talk->allowed);
    if (end->careless) {
        talk->owed += link_cost(count, offset);
        assert_true(offset + count <= total && total <= LINK_MESSAGE_MOST);
        return;
    }
    assert_int_equal(total, end_message_bytes(talk->number, sender, talk->received));
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(bytes[i], message_byte(talk->number, sender, talk->received, offset + i));
    }
    talk->owed += link_cost(count, offset);
    if (offset + count == total) {
        talk->received++;
        end->messages++;
    }
}

static size_t fetch(void *context, unsigned channel, size_t most, const uint8_t **bytes)
{
    struct end *end = context;
    struct talk *talk = &end->talk[channel];
    size_t count = random_below(4) == 0 ? random_below((uint32_t)most + 1) : most;

    assert_true(talk->sending);
    if (end->idle) {
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        talk->bytes[i] = message_byte(talk->number, end->role, talk->sent, talk->at + i);
    }
    talk->at += count;
    *bytes = talk->bytes;
    return count;
}

static void sent(void *context, unsigned channel)
{
    struct end *end = context;
    struct talk *talk = &end->talk[channel];

    assert_true(talk->sending);
    assert_int_equal(talk->at, end_message_bytes(talk->number, end->role, talk->sent));
    talk->sending = false;
    talk->at = 0;
    talk->sent++;
}

static void closed(void *context, unsigned channel, int reason)
{
    struct end *end = context;

    (void)reason;
    assert_true(end->talk[channel].open);
    memset(&end->talk[channel], 0, sizeof(end->talk[channel]));
}

static void stranger(void *context, unsigned version)
{
    struct end *end = context;

    (void)version;
    end->strangers++;
}

static const struct link_user user = {
    .up = up,
    .down = down,
    .open = open_came,
    .opened = opened,
    .data = data,
    .fetch = fetch,
    .sent = sent,
    .closed = closed,
    .stranger = stranger,
};

void end_start(struct end *end, const char *name, uint8_t role, uint32_t now)
{
    struct link_config config = {
        .user = &user,
        .context = end,
        .memory = end->memory,
        .channel = end->channels,
        .frame_most = end->frame_most ? end->frame_most : END_FRAME_MOST,
        .window = end->window ? end->window : END_WINDOW,
        .channels = END_CHANNELS,
        .role = role,
        .hello_ms = role == LINK_HOST ? 200 : 1000,
        .seed = ++end->seed * 77 + role,
        .board = role == LINK_TARGET ? "a-board" : NULL,
    };

    end->name = name;
    end->role = role;
    memset(end->talk, 0, sizeof(end->talk));
    assert_int_equal(link_init(&end->link, &config, now), 0);
}

static void act_open(struct end *end)
{
    char service[LINK_SERVICE_MOST + 1];
    int channel;

    snprintf(service, sizeof(service), "s%u", end->conversations);
    uint32_t credit = 50 + random_below(4000);
    channel = link_open(&end->link, service, credit);
    if (channel >= 0) {
        assert_false(end->talk[channel].open);
        memset(&end->talk[channel], 0, sizeof(end->talk[channel]));
        end->talk[channel].open = true;
        end->talk[channel].number = end->conversations++;
        end->talk[channel].allowed = credit;
    }
}

static void act_channel(struct end *end, unsigned channel)
{
    struct talk *talk = &end->talk[channel];

    switch (random_below(12)) {
    case 0:
        if (random_below(20) == 0) {
            link_close(&end->link, channel, 0);
            memset(talk, 0, sizeof(*talk));
        }
        break;
    default:
        if (!talk->sending &&
            link_send(&end->link, channel,
                      end_message_bytes(talk->number, end->role, talk->sent)) == 0) {
            talk->sending = true;
            talk->at = 0;
        }
        break;
    }
}

static void act_credit(struct end *end, unsigned channel)
{
    struct talk *talk = &end->talk[channel];

    if (talk->open && talk->owed > 0 && !end->idle) {
        link_credit(&end->link, channel, talk->owed);
        talk->allowed += talk->owed;
        talk->owed = 0;
    }
    if (talk->open) {
        link_more(&end->link, channel);
    }
}

void end_act(struct end *end, bool quiet)
{
    unsigned channel = random_below(END_CHANNELS);

    act_credit(end, channel);
    if (quiet) {
        return;
    }
    if (end->talk[channel].open) {
        act_channel(end, channel);
    } else if (end->role == LINK_HOST && random_below(8) == 0) {
        act_open(end);
    }
}

bool end_is_done(const struct end *end)
{
    for (unsigned i = 0; i < END_CHANNELS; i++) {
        if (end->talk[i].open && (end->talk[i].sending || end->talk[i].owed > 0)) {
            return false;
        }
    }
    return true;
}
