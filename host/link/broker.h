/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The broker: a background process that has the line to one target and shares it among the sessions
 * of a user. It ends when the last one leaves, or with the link. One thread.
 */
#ifndef HOST_LINK_BROKER_H
#define HOST_LINK_BROKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/link/local.h"
#include "host/link/place.h"
#include "lib/link/link.h"

#define BROKER_CLIENTS 32

struct client {
    int fd;       /* -1: free */
    bool leaving; /* close it when all is written */
    uint8_t in[sizeof(struct local_head) + LOCAL_MOST];
    size_t in_bytes;
    size_t held_at; /* of the packet in `in`, a message's part: bytes fetched */
    bool held;      /* it is being fetched: nothing more is read */
    uint8_t *out;   /* to be written, [out_at, out_end) */
    size_t out_at, out_end, out_room;
    int channel[LOCAL_CHANNELS]; /* of the link, -1: none */
};

struct broker {
    const char *spec;
    const struct place *place;
    int listener, line;
    bool over; /* the link or the line is gone: tell all and end */
    bool was_up;
    bool door_shut;   /* no descriptor was free: no client is accepted before door_at */
    uint32_t door_at; /* ms */
    bool locked;      /* no process can start another before this one has ended */
    char why[400];
    struct link link;
    struct client client[BROKER_CLIENTS];
    struct {                   /* of the link's channels */
        struct client *client; /* NULL: no client's */
        uint8_t local;
    } owner[LINK_CHANNELS_MOST];
};

/* The broker's life, in a process of its own, with the socket it listens on. Does not return. */
void broker_run(const struct place *place, const char *spec, int listener)
    __attribute__((noreturn));

/* broker_client.c: a session's packets. */
void client_begin(struct client *client, int fd);
void client_end(struct broker *broker, struct client *client);
void client_put(struct client *client, uint8_t type, unsigned channel, uint32_t value,
                const void *bytes, size_t count);
void client_readable(struct broker *broker, struct client *client);
/* Packets that have come, as far as they can be dealt with now. */
void client_work(struct broker *broker, struct client *client);
void client_write(struct broker *broker, struct client *client);

/* broker_link.c: the calls of the protocol. */
extern const struct link_user broker_user;

#endif
