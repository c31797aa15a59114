/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The interface of a service of lib/linkd/, and the functions of serve.c for services. A service
 * has a file, and its state in struct linkd. Internal to lib/linkd.
 */
#ifndef LIB_LINKD_SERVICE_H
#define LIB_LINKD_SERVICE_H

#include "lib/linkd/linkd.h"

#define LINKD_CREDIT 16384 /* first credit of a service that consumes data at once */

struct linkd_service {
    const char *name;
    /* Returns the first credit or an error. */
    long (*open)(struct linkd *linkd, unsigned channel);
    /* As struct link_user's. */
    void (*data)(struct linkd *linkd, unsigned channel, const uint8_t *bytes, size_t count,
                 size_t offset, size_t total);
    size_t (*fetch)(struct linkd *linkd, unsigned channel, size_t most, const uint8_t **bytes);
    void (*sent)(struct linkd *linkd, unsigned channel);
    /* Closed by the host or with the link; frees all that the channel has. */
    void (*closed)(struct linkd *linkd, unsigned channel);
};

/* The service closes the channel; its closed() is not called. */
void linkd_close(struct linkd *linkd, unsigned channel, int reason);

/* Returns the credit of received bytes to the host. */
static inline void linkd_taken(struct linkd *linkd, unsigned channel, size_t count, size_t offset)
{
    link_credit(&linkd->link, channel, link_cost(count, offset));
}

/* The next bytes, from *at on, of a message that is a head and a body: fetch() of a service. */
static inline size_t linkd_fetch_next(const void *head, size_t head_bytes, const void *body,
                                      size_t body_bytes, size_t *at, size_t most,
                                      const uint8_t **bytes)
{
    bool in_head = *at < head_bytes;
    size_t left = in_head ? head_bytes - *at : head_bytes + body_bytes - *at;
    size_t count = most < left ? most : left;

    *bytes = in_head ? (const uint8_t *)head + *at : (const uint8_t *)body + (*at - head_bytes);
    *at += count;
    return count;
}

/* console.c: reads the console for each channel that is not sending. */
void linkd_console_event(struct linkd *linkd);
/* Does so from time to time, because the kernel's own text raises no event. Returns the ms until
 * the next time, LINKD_NO_TIMER if no channel is open. */
uint32_t linkd_console_tick(struct linkd *linkd, uint32_t now);
/* capture.c: a host is available for a waiting client. */
void linkd_capture_event(struct linkd *linkd);

#endif
