/* SPDX-License-Identifier: BSD-2-Clause */
/* Which service a channel belongs to. A new service is a row. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kernel/abi/sys/neutrino.h"
#include "apps/linkd/linkd.h"

static const struct service *const services[] = {
    &service_dtrace,
    &service_console,
    &service_capture,
    &service_source,
};

static const struct service *service_of[LINKD_CHANNELS];

static void up(void *context)
{
    (void)context;
}

/* With the link all that hung on it goes: consumers, captures, the console's ear. */
static void down(void *context, enum link_down why)
{
    (void)context;
    (void)why;
    for (unsigned i = 0; i < LINKD_CHANNELS; i++) {
        if (service_of[i]) {
            service_of[i]->closed(i);
            service_of[i] = NULL;
        }
    }
}

static long open_came(void *context, unsigned channel, const char *name)
{
    (void)context;
    for (unsigned i = 0; i < sizeof(services) / sizeof(services[0]); i++) {
        if (strcmp(services[i]->name, name) == 0) {
            long credit = services[i]->open(channel);

            service_of[channel] = credit < 0 ? NULL : services[i];
            return credit;
        }
    }
    return -ENOENT;
}

static void opened(void *context, unsigned channel)
{
    (void)context;
    (void)channel;
}

static void data(void *context, unsigned channel, const uint8_t *bytes, size_t count, size_t offset,
                 size_t total)
{
    (void)context;
    service_of[channel]->data(channel, bytes, count, offset, total);
}

static size_t fetch(void *context, unsigned channel, size_t most, const uint8_t **bytes)
{
    (void)context;
    return service_of[channel]->fetch(channel, most, bytes);
}

static void sent(void *context, unsigned channel)
{
    (void)context;
    service_of[channel]->sent(channel);
}

static void closed(void *context, unsigned channel, int reason)
{
    (void)context;
    (void)reason;
    if (service_of[channel]) {
        service_of[channel]->closed(channel);
        service_of[channel] = NULL;
    }
}

static void stranger(void *context, unsigned version)
{
    static unsigned told;

    (void)context;
    if (told != version) {
        printf("linkd: the host's link has version %u, this one %u\n", version, LINK_VERSION);
        told = version;
    }
}

void serve_close(unsigned channel, int reason)
{
    service_of[channel] = NULL;
    link_close(&linkd_link, channel, reason);
}

const struct link_user serve_user = {
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
