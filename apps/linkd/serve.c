/* SPDX-License-Identifier: BSD-2-Clause */
/* Assigns channels to services. A new service is a table entry. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "abi/sys/neutrino.h"
#include "apps/linkd/linkd.h"

#define NS_PER_S UINT64_C(1000000000)
#define CLOCK_IS_SET \
    UINT64_C(946684800) /* seconds: the year 2000; before, a clock counts from boot */
#define CLOCK_MOST (UINT64_MAX / NS_PER_S)

static const struct service *const services[] = {
    &service_dtrace, &service_console, &service_capture, &service_source, &service_program,
};

static const struct service *service_of[LINKD_CHANNELS];

/* A board without the time takes the host's. Without the ability `clock` it keeps counting from its
 * start. */
static void up(void *context)
{
    struct link_clock host;
    uint64_t now_ns;

    (void)context;
    memcpy(&host, link_peer(&linkd_link)->build_id, sizeof(host));
    if (host.seconds >= CLOCK_IS_SET && host.seconds < CLOCK_MOST && host.ns < NS_PER_S &&
        ClockTime(CLOCK_REALTIME, NULL, &now_ns) == 0 && now_ns < CLOCK_IS_SET * NS_PER_S) {
        now_ns = host.seconds * NS_PER_S + host.ns;
        ClockTime(CLOCK_REALTIME, &now_ns, NULL);
    }
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
