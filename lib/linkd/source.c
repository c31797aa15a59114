/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The service "source": generates as many bytes as the host requests, to measure and test the line.
 * Refuses a request of another size (EINVAL), and one above LINK_MESSAGE_MOST (EMSGSIZE).
 */
#include <string.h>

#include "abi/errno.h"
#include "lib/linkd/service.h"

static long linkd_source_opened(struct linkd *linkd, unsigned channel)
{
    linkd->sources[channel] = (struct linkd_source_channel){.at = 0};
    return LINKD_CREDIT;
}

static void source_data(struct linkd *linkd, unsigned channel, const uint8_t *bytes, size_t count,
                        size_t offset, size_t total)
{
    struct linkd_source_channel *source = &linkd->sources[channel];

    if (total != sizeof(source->request)) {
        linkd_close(linkd, channel, -EINVAL);
        return;
    }
    memcpy((uint8_t *)&source->request + offset, bytes, count);
    linkd_taken(linkd, channel, count, offset);
    if (offset + count < total) {
        return;
    }
    source->at = 0;
    int error = source->request.bytes > LINK_MESSAGE_MOST
                    ? -EMSGSIZE
                    : link_send(&linkd->link, channel, source->request.bytes);
    if (error) {
        linkd_close(linkd, channel, error);
    }
}

static size_t source_fetch(struct linkd *linkd, unsigned channel, size_t most,
                           const uint8_t **bytes)
{
    struct linkd_source_channel *source = &linkd->sources[channel];

    most = most < linkd->config.frame_most ? most : linkd->config.frame_most;
    for (size_t i = 0; i < most; i++) {
        linkd->piece[i] = link_source_byte(source->request.seed, source->at + (uint32_t)i);
    }
    source->at += (uint32_t)most;
    *bytes = linkd->piece;
    return most;
}

static void source_sent(struct linkd *linkd, unsigned channel)
{
    (void)linkd;
    (void)channel;
}

static void source_closed(struct linkd *linkd, unsigned channel)
{
    (void)linkd;
    (void)channel;
}

const struct linkd_service linkd_source = {
    .name = "source",
    .open = linkd_source_opened,
    .data = source_data,
    .fetch = source_fetch,
    .sent = source_sent,
    .closed = source_closed,
};
