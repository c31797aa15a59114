/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session at the broker. What it sends is taken a packet at a time; a message's part stays in the
 * buffer until the link has fetched it, and meanwhile nothing more is read from this session. What
 * goes to it is bounded by the credit that it gave.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/link/broker.h"

void client_begin(struct client *client, int fd)
{
    memset(client, 0, sizeof(*client));
    client->fd = fd;
    for (unsigned i = 0; i < LOCAL_CHANNELS; i++) {
        client->channel[i] = -1;
    }
}

static void channel_end(struct broker *broker, struct client *client, unsigned local, int reason)
{
    int channel = client->channel[local];

    if (channel >= 0) {
        link_close(&broker->link, (unsigned)channel, reason);
        broker->owner[channel].client = NULL;
        client->channel[local] = -1;
    }
}

void client_end(struct broker *broker, struct client *client)
{
    for (unsigned i = 0; i < LOCAL_CHANNELS; i++) {
        channel_end(broker, client, i, -ECONNRESET);
    }
    close(client->fd);
    client->fd = -1;
    free(client->out);
    client->out = NULL;
}

static int out_make_room(struct client *client, size_t bytes)
{
    size_t used = client->out_end - client->out_at;

    if (client->out_end + bytes <= client->out_room) {
        return 0;
    }
    if (client->out_at > 0) {
        memmove(client->out, client->out + client->out_at, used);
        client->out_at = 0;
        client->out_end = used;
    }
    if (used + bytes > client->out_room) {
        size_t room = 2 * (used + bytes);
        uint8_t *more = realloc(client->out, room);

        if (!more) {
            return -1;
        }
        client->out = more;
        client->out_room = room;
    }
    return 0;
}

void client_put(struct client *client, uint8_t type, unsigned channel, uint32_t value,
                const void *bytes, size_t count)
{
    const struct local_head head = {type, (uint8_t)channel, (uint16_t)count, value};

    if (client->leaving) {
        return;
    }
    if (out_make_room(client, sizeof(head) + count) != 0) {
        client->leaving = true; /* a gap in its stream would be worse */
        return;
    }
    memcpy(client->out + client->out_end, &head, sizeof(head));
    if (count > 0) {
        memcpy(client->out + client->out_end + sizeof(head), bytes, count);
    }
    client->out_end += sizeof(head) + count;
}

void client_write(struct broker *broker, struct client *client)
{
    while (client->out_at < client->out_end) {
        ssize_t done = send(client->fd, client->out + client->out_at,
                            client->out_end - client->out_at, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (done < 0 && (errno == EAGAIN || errno == EINTR)) {
            return;
        }
        if (done < 0) {
            client_end(broker, client);
            return;
        }
        client->out_at += (size_t)done;
    }
    client->out_at = client->out_end = 0;
    if (client->leaving) {
        client_end(broker, client);
    }
}

static void open_wanted(struct broker *broker, struct client *client, const struct local_head *head,
                        const uint8_t *bytes)
{
    char service[LINK_SERVICE_MOST + 1] = "";
    int channel = -EINVAL;

    if (head->bytes <= LINK_SERVICE_MOST && client->channel[head->channel] < 0) {
        memcpy(service, bytes, head->bytes);
        channel = link_open(&broker->link, service, head->value);
    }
    if (channel < 0) {
        client_put(client, LOCAL_CLOSED, head->channel, (uint32_t)channel, NULL, 0);
        return;
    }
    client->channel[head->channel] = channel;
    broker->owner[channel].client = client;
    broker->owner[channel].local = head->channel;
}

/* A message's part: false: the one before is still on its way. */
static bool part_wanted(struct broker *broker, struct client *client, const struct local_head *head)
{
    int channel = client->channel[head->channel];

    if (channel < 0) {
        return true; /* the channel is gone, as the session will learn */
    }
    if (head->type == LOCAL_FIRST) {
        int error = link_send(&broker->link, (unsigned)channel, head->value);

        if (error == -EBUSY) {
            return false;
        }
        if (error) {
            return true;
        }
    }
    client->held = head->bytes > 0;
    client->held_at = 0;
    link_more(&broker->link, (unsigned)channel);
    return !client->held;
}

/* false: it stays. */
static bool broker_client_take_packet(struct broker *broker, struct client *client,
                                      const struct local_head *head, const uint8_t *bytes)
{
    int channel = client->channel[head->channel];

    switch (head->type) {
    case LOCAL_OPEN:
        open_wanted(broker, client, head, bytes);
        return true;
    case LOCAL_CLOSE:
        channel_end(broker, client, head->channel, 0);
        client_put(client, LOCAL_CLOSED, head->channel, 0, NULL, 0);
        return true;
    case LOCAL_CREDIT:
        if (channel >= 0) {
            link_credit(&broker->link, (unsigned)channel, head->value);
        }
        return true;
    default:
        return part_wanted(broker, client, head);
    }
}

static bool packet_is_good(const struct local_head *head)
{
    return head->type >= LOCAL_OPEN && head->type <= LOCAL_MORE && head->channel < LOCAL_CHANNELS &&
           head->bytes <= LOCAL_MOST;
}

void client_work(struct broker *broker, struct client *client)
{
    struct local_head head;

    while (client->fd >= 0 && !client->leaving && client->in_bytes >= sizeof(head)) {
        memcpy(&head, client->in, sizeof(head));
        size_t size = sizeof(head) + head.bytes;
        if (!packet_is_good(&head)) {
            client_end(broker, client);
            return;
        }
        if (client->in_bytes < size) {
            return;
        }
        if (client->held && client->held_at < head.bytes && client->channel[head.channel] >= 0) {
            return;
        }
        if (!client->held &&
            !broker_client_take_packet(broker, client, &head, client->in + sizeof(head))) {
            return;
        }
        client->held = false;
        client->in_bytes -= size;
        memmove(client->in, client->in + size, client->in_bytes);
    }
}

void client_readable(struct broker *broker, struct client *client)
{
    ssize_t got = recv(client->fd, client->in + client->in_bytes,
                       sizeof(client->in) - client->in_bytes, MSG_DONTWAIT);

    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (got <= 0) {
        client_end(broker, client);
        return;
    }
    client->in_bytes += (size_t)got;
    client_work(broker, client);
}
