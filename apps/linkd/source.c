/* SPDX-License-Identifier: BSD-2-Clause */
/* The service "source": so many bytes as the host asks for, made up here, to measure the line. */
#include <errno.h>
#include <string.h>

#include "abi/sys/neutrino.h"
#include "apps/linkd/linkd.h"
#include "lib/link/service.h"

static struct {
    struct link_source request;
    uint32_t at;
} sources[LINKD_CHANNELS];

static uint8_t piece[LINKD_FRAME_MOST];

static long source_open(unsigned channel)
{
    memset(&sources[channel], 0, sizeof(sources[channel]));
    return LINKD_CREDIT;
}

static void source_data(unsigned channel, const uint8_t *bytes, size_t count, size_t offset,
                        size_t total)
{
    if (total != sizeof(struct link_source)) {
        serve_close(channel, -EINVAL);
        return;
    }
    memcpy((uint8_t *)&sources[channel].request + offset, bytes, count);
    link_credit(&linkd_link, channel, link_cost(count, offset));
    if (offset + count < total) {
        return;
    }
    sources[channel].at = 0;
    int error = link_send(&linkd_link, channel, sources[channel].request.bytes);
    if (error) {
        serve_close(channel, error);
    }
}

static size_t source_fetch(unsigned channel, size_t most, const uint8_t **bytes)
{
    uint32_t seed = sources[channel].request.seed, at = sources[channel].at;

    most = most < sizeof(piece) ? most : sizeof(piece);
    for (size_t i = 0; i < most; i++) {
        piece[i] = link_source_byte(seed, at + (uint32_t)i);
    }
    sources[channel].at += (uint32_t)most;
    *bytes = piece;
    return most;
}

static void source_sent(unsigned channel)
{
    (void)channel;
}

static void source_closed(unsigned channel)
{
    (void)channel;
}

const struct service service_source = {
    .name = "source",
    .open = source_open,
    .data = source_data,
    .fetch = source_fetch,
    .sent = source_sent,
    .closed = source_closed,
};
