/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connects the link and the services: passes each call of the link to the service that its channel
 * belongs to, and moves bytes between the link and the line. A new service is an object of struct
 * linkd_service, which the owner adds to its list. Contract: linkd.h.
 */
#include <string.h>

#include "abi/errno.h"
#include "lib/linkd/service.h"

#define NS_PER_S UINT64_C(1000000000)
/* Seconds: the year 2000; a clock before that counts from the host's boot. */
#define CLOCK_IS_SET UINT64_C(946684800)
#define CLOCK_MOST (UINT64_MAX / NS_PER_S)

static void linkd_on_up(void *context)
{
    struct linkd *linkd = context;
    struct link_clock host;

    memcpy(&host, link_peer(&linkd->link)->build_id, sizeof(host));
    if (host.seconds >= CLOCK_IS_SET && host.seconds < CLOCK_MOST && host.ns < NS_PER_S) {
        linkd->config.port->host_time(linkd->config.context, host.seconds * NS_PER_S + host.ns);
    }
}

static void linkd_on_closed(void *context, unsigned channel, int reason)
{
    struct linkd *linkd = context;
    const struct linkd_service *service = linkd->service[channel];

    (void)reason;
    if (service) {
        service->closed(linkd, channel);
        linkd->service[channel] = NULL;
    }
}

static void linkd_on_down(void *context, enum link_down why)
{
    (void)why;
    for (unsigned i = 0; i < LINKD_CHANNELS; i++) {
        linkd_on_closed(context, i, 0);
    }
}

static long linkd_on_open_came(void *context, unsigned channel, const char *name)
{
    struct linkd *linkd = context;

    for (const struct linkd_service *const *s = linkd->config.services; *s; s++) {
        if (strcmp((*s)->name, name) == 0) {
            long credit = (*s)->open(linkd, channel);

            linkd->service[channel] = credit < 0 ? NULL : *s;
            return credit;
        }
    }
    return -ENOENT;
}

/* Never called: only the host opens channels. */
static void linkd_on_opened(void *context, unsigned channel)
{
    (void)context;
    (void)channel;
}

static void linkd_on_data(void *context, unsigned channel, const uint8_t *bytes, size_t count,
                          size_t offset, size_t total)
{
    struct linkd *linkd = context;

    linkd->service[channel]->data(linkd, channel, bytes, count, offset, total);
}

static size_t linkd_fetch_data(void *context, unsigned channel, size_t most, const uint8_t **bytes)
{
    struct linkd *linkd = context;

    return linkd->service[channel]->fetch(linkd, channel, most, bytes);
}

static void linkd_on_sent(void *context, unsigned channel)
{
    struct linkd *linkd = context;

    linkd->service[channel]->sent(linkd, channel);
}

static void linkd_on_stranger(void *context, unsigned version)
{
    struct linkd *linkd = context;

    if (linkd->stranger != version) {
        linkd->stranger = version;
        linkd->config.port->stranger(linkd->config.context, version);
    }
}

void linkd_close(struct linkd *linkd, unsigned channel, int reason)
{
    linkd->service[channel] = NULL;
    link_close(&linkd->link, channel, reason);
}

int linkd_init(struct linkd *linkd, const struct linkd_config *config)
{
    static const struct link_user user = {
        .up = linkd_on_up,
        .down = linkd_on_down,
        .open = linkd_on_open_came,
        .opened = linkd_on_opened,
        .data = linkd_on_data,
        .fetch = linkd_fetch_data,
        .sent = linkd_on_sent,
        .closed = linkd_on_closed,
        .stranger = linkd_on_stranger,
    };
    const struct link_config link = {
        .user = &user,
        .context = linkd,
        .memory = config->memory,
        .channel = linkd->channels,
        .frame_most = config->frame_most,
        .window = config->window,
        .channels = LINKD_CHANNELS,
        .role = LINK_TARGET,
        .seed = config->seed,
        .board = config->board,
        .build_id = config->build_id,
    };

    memset(linkd, 0, sizeof(*linkd));
    linkd->config = *config;
    linkd->piece = (uint8_t *)config->memory + LINK_MEMORY(config->frame_most, config->window);
    linkd->capture.channel = -1;
    return link_init(&linkd->link, &link, config->port->now(config->context));
}

void linkd_input(struct linkd *linkd)
{
    const struct linkd_port *port = linkd->config.port;
    void *context = linkd->config.context;
    uint8_t bytes[256];
    size_t count;

    while ((count = port->read(context, bytes, sizeof(bytes))) > 0) {
        link_input(&linkd->link, port->now(context), bytes, count);
    }
}

uint32_t linkd_output(struct linkd *linkd)
{
    const struct linkd_port *port = linkd->config.port;
    void *context = linkd->config.context;
    uint32_t tick = linkd_console_tick(linkd, port->now(context));
    const uint8_t *bytes;
    size_t count;

    while ((count = link_output(&linkd->link, port->now(context), &bytes)) > 0) {
        size_t taken = port->write(context, bytes, count);

        link_output_done(&linkd->link, taken);
        if (taken < count) {
            break;
        }
    }
    port->flush(context);
    uint32_t wait = link_wait(&linkd->link, port->now(context));
    wait = wait < tick ? wait : tick;
    if (!link_is_up(&linkd->link) && wait >= 60000) {
        return LINKD_NO_TIMER;
    }
    return wait > 0 ? wait : 1;
}

void linkd_lost(struct linkd *linkd)
{
    link_lost(&linkd->link);
}

void linkd_event(struct linkd *linkd, enum linkd_event event)
{
    if (event == LINKD_EVENT_CONSOLE) {
        linkd_console_event(linkd);
    } else {
        linkd_capture_event(linkd);
    }
}
