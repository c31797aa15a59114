/* SPDX-License-Identifier: BSD-2-Clause */
/* The link's events, passed on to the session that owns the channel. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "host/link/broker.h"

static void broker_link_on_up(void *context)
{
    struct broker *broker = context;

    broker->was_up = true;
    for (unsigned i = 0; i < BROKER_CLIENTS; i++) {
        if (broker->client[i].fd >= 0) {
            client_put(&broker->client[i], LOCAL_HELLO, 0, 0, link_peer(&broker->link),
                       sizeof(struct link_hello));
        }
    }
}

static const char *down_words(enum link_down why)
{
    switch (why) {
    case LINK_SILENT:
        return "the target went silent";
    case LINK_RESTARTED:
        return "the target was restarted";
    case LINK_BYE:
        return "the target has ended the link";
    case LINK_STRANGE:
        return "the target breaks the link's protocol";
    default:
        return "the line was closed";
    }
}

static void broker_link_on_down(void *context, enum link_down why)
{
    struct broker *broker = context;

    if (!broker->over) {
        broker->over = true;
        snprintf(broker->why, sizeof(broker->why), "%.300s: %s", broker->spec, down_words(why));
    }
}

static long broker_link_on_open_came(void *context, unsigned channel, const char *service)
{
    (void)context;
    (void)channel;
    (void)service;
    return -ENOTSUP; /* only the host opens */
}

static void broker_link_on_opened(void *context, unsigned channel)
{
    struct broker *broker = context;

    if (broker->owner[channel].client) {
        client_put(broker->owner[channel].client, LOCAL_OPENED, broker->owner[channel].local, 0,
                   NULL, 0);
    }
}

static void broker_link_on_data(void *context, unsigned channel, const uint8_t *bytes, size_t count,
                                size_t offset, size_t total)
{
    struct broker *broker = context;

    if (broker->owner[channel].client) {
        client_put(broker->owner[channel].client, offset == 0 ? LOCAL_FIRST : LOCAL_MORE,
                   broker->owner[channel].local, (uint32_t)total, bytes, count);
    }
}

/* From the packet that the session is held at, if it is this channel's. */
static size_t broker_link_fetch_data(void *context, unsigned channel, size_t most,
                                     const uint8_t **bytes)
{
    struct broker *broker = context;
    struct client *client = broker->owner[channel].client;
    struct local_head head;

    if (!client || !client->held) {
        return 0;
    }
    memcpy(&head, client->in, sizeof(head));
    if (head.channel != broker->owner[channel].local) {
        return 0;
    }
    size_t left = head.bytes - client->held_at;
    size_t count = left < most ? left : most;
    *bytes = client->in + sizeof(head) + client->held_at;
    client->held_at += count;
    return count;
}

static void broker_link_on_sent(void *context, unsigned channel)
{
    (void)context;
    (void)channel;
}

static void broker_link_on_closed(void *context, unsigned channel, int reason)
{
    struct broker *broker = context;
    struct client *client = broker->owner[channel].client;

    if (client) {
        client->channel[broker->owner[channel].local] = -1;
        client_put(client, LOCAL_CLOSED, broker->owner[channel].local, (uint32_t)reason, NULL, 0);
        broker->owner[channel].client = NULL;
    }
}

static void broker_link_on_stranger(void *context, unsigned version)
{
    struct broker *broker = context;

    broker->over = true;
    snprintf(broker->why, sizeof(broker->why),
             "%.300s: the target speaks version %u of the link, this kymo version %u", broker->spec,
             version, LINK_VERSION);
}

const struct link_user broker_user = {
    .up = broker_link_on_up,
    .down = broker_link_on_down,
    .open = broker_link_on_open_came,
    .opened = broker_link_on_opened,
    .data = broker_link_on_data,
    .fetch = broker_link_fetch_data,
    .sent = broker_link_on_sent,
    .closed = broker_link_on_closed,
    .stranger = broker_link_on_stranger,
};
