/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by session.c and session_io.c. One thread per session. */
#ifndef HOST_LINK_SESSION_IO_H
#define HOST_LINK_SESSION_IO_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "host/link/local.h"
#include "host/link/place.h"
#include "host/link/session.h"
#include "lib/link/link.h"

struct message {
    struct message *next;
    size_t bytes, got;
    uint8_t data[];
};

struct channel {
    struct session *session;
    unsigned number;
    bool opened, closed, closing;
    int reason;              /* closed: why */
    struct message *partial; /* coming */
    struct message *first, *last;
    size_t queued; /* bytes of those */
    uint32_t owed; /* credit not given back */
};

struct session {
    int fd;
    struct link_hello hello;
    bool met;  /* the target has answered */
    bool told; /* the broker said why it went */
    bool gone;
    char reason[400];
    struct channel *channel[LOCAL_CHANNELS];
    uint8_t in[sizeof(struct local_head) + LOCAL_MOST];
    size_t in_bytes;
    uint8_t *out; /* [out_at, out_end) */
    size_t out_at, out_end, out_room;
};

/* Queues a packet for the broker, and writes what goes without waiting. */
void session_put(struct session *session, uint8_t type, unsigned channel, uint32_t value,
                 const void *bytes, size_t count);
/* Waits for the socket (events: POLLIN, POLLOUT) at most so long, and reads and writes what there
 * is. 1: something happened; 0: time is up, or a signal came; -1: the broker is gone. */
int session_wait(struct session *session, int timeout_ms, short events);
/* Credit for what the owner has taken. */
void session_credit(struct channel *channel);

#endif
