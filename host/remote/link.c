/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The wire to a target on the link: a channel of its service "dtrace", and beside it others of the
 * same session.
 */
#include "host/link/session.h"
#include "host/remote/wire.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

struct wire_of_link {
    struct wire base;
    struct session *session;
    struct channel *channel;
    bool beside; /* another wire has opened the session, and closes it */
};

static struct wire_of_link *remote_link_wire_of(struct wire *wire)
{
    return (struct wire_of_link *)wire;
}

static int remote_link_send(struct wire *wire, const void *message, size_t bytes)
{
    return channel_send(remote_link_wire_of(wire)->channel, message, bytes);
}

static long link_receive(struct wire *wire, void *message, size_t room, int timeout_ms)
{
    return channel_receive(remote_link_wire_of(wire)->channel, message, room, timeout_ms);
}

static const char *link_reason(struct wire *wire)
{
    return session_reason(remote_link_wire_of(wire)->session);
}

static void remote_link_close(struct wire *wire)
{
    if (remote_link_wire_of(wire)->channel) {
        channel_close(remote_link_wire_of(wire)->channel);
    }
    if (remote_link_wire_of(wire)->session && !remote_link_wire_of(wire)->beside) {
        session_close(remote_link_wire_of(wire)->session);
    }
    free(wire);
}

static struct wire *link_beside(struct wire *wire, const char *service, const char **why);

static const struct wire_ops link_ops = {remote_link_send, link_receive, link_reason,
                                         remote_link_close, link_beside};

static struct wire *link_beside(struct wire *wire, const char *service, const char **why)
{
    struct wire_of_link *w = calloc(1, sizeof(*w));

    *why = "Not enough space";
    if (!w) {
        return NULL;
    }
    w->base.ops = &link_ops;
    w->session = remote_link_wire_of(wire)->session;
    w->beside = true;
    w->channel = channel_open(w->session, service, why);
    if (!w->channel) {
        remote_link_close(&w->base);
        return NULL;
    }
    return &w->base;
}

struct wire *wire_link(const char *spec, const char **why)
{
    struct wire_of_link *w = calloc(1, sizeof(*w));

    *why = "Not enough space";
    if (!w) {
        return NULL;
    }
    w->base.ops = &link_ops;
    w->session = session_open(spec, why);
    w->channel = w->session ? channel_open(w->session, "dtrace", why) : NULL;
    if (!w->channel) {
        remote_link_close(&w->base);
        return NULL;
    }
    return &w->base;
}
