/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Channels: frames received from the other end. They arrive in order and unchanged, so an invalid
 * one is the other end's fault and takes the link down (LINK_STRANGE).
 */
#include <errno.h>
#include <string.h>

#include "lib/link/frame.h"

void channels_reset(struct link *link)
{
    memset(link->config.channel, 0, link->config.channels * sizeof(*link->config.channel));
    link->turn = 0;
}

static uint32_t link_channel_payload_word(const uint8_t *payload)
{
    uint32_t value;

    memcpy(&value, payload, sizeof(value));
    return value;
}

static bool link_channel_open_came(struct link *link, unsigned number, const uint8_t *payload,
                                   size_t bytes)
{
    struct link_channel *channel = &link->config.channel[number];
    size_t name = bytes - sizeof(uint32_t);

    if (link->config.role == LINK_HOST || channel->state != LINK_FREE ||
        bytes <= sizeof(uint32_t) || name > LINK_SERVICE_MOST) {
        return false;
    }
    memset(channel, 0, sizeof(*channel));
    channel->out_credit = link_channel_payload_word(payload);
    memcpy(channel->service, payload + sizeof(uint32_t), name);
    channel->state = LINK_OPENED;
    channel->wants = LINK_WANT_ACCEPT;
    long credit = link->config.user->open(link->config.context, number, channel->service);
    if (credit < 0) {
        link_close(link, number, (int)credit);
        channel->wants = LINK_WANT_CLOSE;
    } else {
        channel->in_credit += (uint32_t)credit;
    }
    return true;
}

static bool accept_came(struct link *link, unsigned number, const uint8_t *payload, size_t bytes)
{
    struct link_channel *channel = &link->config.channel[number];

    if (bytes != sizeof(uint32_t) || !channel->ours || channel->state != LINK_OPENING) {
        return channel->state == LINK_CLOSING;
    }
    channel->out_credit = link_channel_payload_word(payload);
    channel->state = LINK_OPENED;
    link->config.user->opened(link->config.context, number);
    return true;
}

static bool close_came(struct link *link, unsigned number, const uint8_t *payload, size_t bytes)
{
    struct link_channel *channel = &link->config.channel[number];
    bool told = channel->state == LINK_CLOSING;

    if (bytes != sizeof(uint32_t) || channel->state == LINK_FREE || channel->close_came) {
        return false;
    }
    channel->close_came = true;
    if (channel->close_made) {
        channel->state = LINK_FREE;
    } else {
        link_close(link, number, 0);
    }
    if (!told) {
        link->config.user->closed(link->config.context, number,
                                  (int)link_channel_payload_word(payload));
    }
    return true;
}

static bool credit_came(struct link_channel *channel, const uint8_t *payload, size_t bytes)
{
    if (bytes != sizeof(uint32_t)) {
        return false;
    }
    if ((int32_t)(link_channel_payload_word(payload) - channel->out_credit) > 0) {
        channel->out_credit = link_channel_payload_word(payload);
    }
    return true;
}

/* Removes the FIRST frame's head. */
static bool head_came(struct link_channel *channel, const uint8_t **payload, size_t *bytes)
{
    if (*bytes < LINK_HEAD || channel->receiving ||
        link_channel_payload_word(*payload) > LINK_MESSAGE_MOST) {
        return false;
    }
    channel->in_total = link_channel_payload_word(*payload);
    channel->in_at = 0;
    channel->receiving = true;
    *payload += LINK_HEAD;
    *bytes -= LINK_HEAD;
    return *bytes > 0 || channel->in_total == 0;
}

static bool data_came(struct link *link, unsigned number, const uint8_t *payload, size_t bytes,
                      bool first)
{
    struct link_channel *channel = &link->config.channel[number];

    channel->in_used += (uint32_t)bytes;
    if ((int32_t)(channel->in_credit - channel->in_used) < 0) {
        return false;
    }
    if (first ? !head_came(channel, &payload, &bytes) : !channel->receiving || bytes == 0) {
        return false;
    }
    if (bytes > channel->in_total - channel->in_at) {
        return false;
    }
    size_t offset = channel->in_at;
    channel->in_at += (uint32_t)bytes;
    channel->receiving = channel->in_at < channel->in_total;
    link->config.user->data(link->config.context, number, payload, bytes, offset,
                            channel->in_total);
    return true;
}

/* Ignores frames that were in transit when this end closed. */
static bool link_channel_take_frame(struct link *link, const struct link_frame *frame,
                                    const uint8_t *payload, size_t bytes)
{
    struct link_channel *channel = &link->config.channel[frame->channel];

    switch (frame->type) {
    case LINK_OPEN:
        return link_channel_open_came(link, frame->channel, payload, bytes);
    case LINK_ACCEPT:
        return accept_came(link, frame->channel, payload, bytes);
    case LINK_CLOSE:
        return close_came(link, frame->channel, payload, bytes);
    default:
        break;
    }
    if (channel->state != LINK_OPENED) {
        return channel->state == LINK_CLOSING && !channel->close_came;
    }
    if (frame->type == LINK_CREDIT) {
        return credit_came(channel, payload, bytes);
    }
    return data_came(link, frame->channel, payload, bytes, frame->type == LINK_FIRST);
}

void channel_frame(struct link *link, const struct link_frame *frame, const uint8_t *payload,
                   size_t bytes)
{
    if (frame->channel >= link->config.channels ||
        !link_channel_take_frame(link, frame, payload, bytes)) {
        link_fall(link, LINK_STRANGE);
    }
}
