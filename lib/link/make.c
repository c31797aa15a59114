/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Channels: frames sent by this end. Nothing is queued except one flag for each kind of pending
 * frame of a channel, and the announcement of one message; the frames are made when there is room,
 * one channel after the other.
 */
#include <errno.h>
#include <string.h>

#include "lib/link/frame.h"

static struct link_channel *link_make_opened_channel(struct link *link, unsigned number)
{
    struct link_channel *channel = &link->config.channel[number];

    return number < link->config.channels && channel->state == LINK_OPENED ? channel : NULL;
}

int link_open(struct link *link, const char *service, uint32_t credit)
{
    size_t length = strlen(service);
    unsigned most =
        link->config.channels < link->peer.channels ? link->config.channels : link->peer.channels;

    if (length == 0 || length > LINK_SERVICE_MOST || link->config.role != LINK_HOST) {
        return -EINVAL;
    }
    if (!link->up) {
        return -ENOTCONN;
    }
    for (unsigned i = 0; i < most; i++) {
        struct link_channel *channel = &link->config.channel[i];

        if (channel->state == LINK_FREE) {
            memset(channel, 0, sizeof(*channel));
            channel->state = LINK_OPENING;
            channel->ours = true;
            channel->in_credit = credit;
            channel->wants = LINK_WANT_OPEN;
            memcpy(channel->service, service, length);
            return (int)i;
        }
    }
    return -EAGAIN;
}

int link_send(struct link *link, unsigned number, size_t bytes)
{
    struct link_channel *channel = link_make_opened_channel(link, number);

    if (!channel) {
        return -EPIPE;
    }
    if (channel->sending) {
        return -EBUSY;
    }
    if (bytes > LINK_MESSAGE_MOST) {
        return -EMSGSIZE;
    }
    channel->sending = true;
    channel->head_made = false;
    channel->out_left = (uint32_t)bytes;
    channel->wants |= LINK_WANT_FETCH;
    return 0;
}

void link_more(struct link *link, unsigned number)
{
    struct link_channel *channel = link_make_opened_channel(link, number);

    if (channel && channel->sending) {
        channel->wants |= LINK_WANT_FETCH;
    }
}

void link_credit(struct link *link, unsigned number, uint32_t bytes)
{
    struct link_channel *channel = link_make_opened_channel(link, number);

    if (channel && bytes > 0) {
        channel->in_credit += bytes;
        channel->wants |= channel->wants & LINK_WANT_ACCEPT ? 0 : LINK_WANT_CREDIT;
    }
}

void link_close(struct link *link, unsigned number, int reason)
{
    struct link_channel *channel = &link->config.channel[number];

    if (number >= link->config.channels || channel->state == LINK_FREE ||
        channel->state == LINK_CLOSING) {
        return;
    }
    channel->state = LINK_CLOSING;
    channel->reason = reason;
    /* An unsent OPEN need not be withdrawn, but a received one is answered by an ACCEPT first. */
    channel->wants &= LINK_WANT_OPEN | LINK_WANT_ACCEPT;
    channel->wants |= LINK_WANT_CLOSE;
    channel->sending = false;
}

/* Makes FIRST or MORE, with the fetched bytes, as credit allows. */
static bool make_data(struct link *link, struct link_channel *channel, unsigned number)
{
    uint32_t head = channel->head_made ? 0 : LINK_HEAD;
    uint32_t credit = channel->out_credit - channel->out_used;
    uint32_t total = channel->out_left;
    const uint8_t *bytes = NULL;
    size_t count = 0;

    if (credit < head + (total > 0)) {
        return false;
    }
    if (total > 0) {
        size_t most = link->payload_most - head;

        most = most < credit - head ? most : credit - head;
        most = most < total ? most : total;
        count = link->config.user->fetch(link->config.context, number, most, &bytes);
        if (count == 0 || count > most) {
            channel->wants &= (uint8_t)~LINK_WANT_FETCH;
            return false;
        }
    }
    window_put(link, head ? LINK_FIRST : LINK_MORE, number, &total, head, bytes, count);
    channel->head_made = true;
    channel->out_used += head + (uint32_t)count;
    channel->out_left -= (uint32_t)count;
    return true;
}

static bool make_message(struct link *link, struct link_channel *channel, unsigned number)
{
    if (channel->state != LINK_OPENED || !channel->sending || !(channel->wants & LINK_WANT_FETCH) ||
        !make_data(link, channel, number)) {
        return false;
    }
    if (channel->out_left == 0) {
        channel->sending = false;
        channel->wants &= (uint8_t)~LINK_WANT_FETCH;
        link->config.user->sent(link->config.context, number);
    }
    return true;
}

static void make_word(struct link *link, unsigned number, uint8_t type, uint32_t value,
                      const char *name)
{
    window_put(link, type, number, &value, sizeof(value), name, name ? strlen(name) : 0);
}

static void make_close(struct link *link, struct link_channel *channel, unsigned number)
{
    make_word(link, number, LINK_CLOSE, (uint32_t)channel->reason, NULL);
    channel->close_made = true;
    if (channel->close_came) {
        channel->state = LINK_FREE;
    }
}

static bool link_make_is_wanted(struct link_channel *channel, uint8_t what)
{
    bool is = channel->wants & what;

    channel->wants &= (uint8_t)~what;
    return is;
}

static bool make_frame(struct link *link, unsigned number)
{
    struct link_channel *channel = &link->config.channel[number];

    if (link_make_is_wanted(channel, LINK_WANT_OPEN)) {
        make_word(link, number, LINK_OPEN, channel->in_credit, channel->service);
    } else if (link_make_is_wanted(channel, LINK_WANT_ACCEPT)) {
        make_word(link, number, LINK_ACCEPT, channel->in_credit, NULL);
    } else if (link_make_is_wanted(channel, LINK_WANT_CREDIT)) {
        make_word(link, number, LINK_CREDIT, channel->in_credit, NULL);
    } else if (link_make_is_wanted(channel, LINK_WANT_CLOSE)) {
        make_close(link, channel, number);
    } else {
        return make_message(link, channel, number);
    }
    return true;
}

bool channels_make(struct link *link)
{
    for (unsigned i = 0; i < link->config.channels; i++) {
        unsigned number = (link->turn + i) % link->config.channels;

        if (make_frame(link, number)) {
            link->turn = number + 1;
            return true;
        }
    }
    return false;
}
