/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The service "capture": a client, a program of the target (tracelogger -f link:NAME), writes, and
 * the host stores. The client waits in its request until its bytes have gone into frames, directly
 * from its memory; so only the request is stored here. One capture at a time. The client's side is
 * lib/include/sys/linkmsg.h, which lists the refusals; the host's is lib/link/service.h.
 */
#include <string.h>

#include "abi/errno.h"
#include "lib/include/sys/linkmsg.h"
#include "lib/linkd/service.h"

/* Answers the client, if it waits. */
static void linkd_capture_reply_client(struct linkd *linkd, int error, long status)
{
    int request = linkd->capture.request;

    linkd->capture.request = 0;
    if (request == 0) {
        return;
    }
    if (error) {
        linkd->config.port->refuse(linkd->config.context, request, error);
    } else {
        linkd->config.port->reply(linkd->config.context, request, status);
    }
}

/* Ends the capture with an error, which the client gets now or with its next request. */
static void linkd_capture_fail_with(struct linkd *linkd, int error)
{
    struct linkd_capture_state *capture = &linkd->capture;
    bool waits = capture->request != 0;

    linkd_capture_reply_client(linkd, error, 0);
    capture->channel = -1;
    capture->error = error;
    capture->phase = waits ? LINKD_CAPTURE_NONE : LINKD_CAPTURE_FAILED;
}

/* Announces a message to the host: a header, and so many bytes of the client's message. */
static void linkd_capture_announce_message(struct linkd *linkd, uint32_t kind, size_t bytes)
{
    struct linkd_capture_state *capture = &linkd->capture;

    capture->head = (struct link_capture){.kind = kind, .bytes = capture->bytes};
    capture->size = sizeof(capture->head) + bytes;
    capture->at = 0;
    capture->offset = sizeof(struct linkmsg);
    if (link_send(&linkd->link, (unsigned)capture->channel, capture->size) != 0) {
        linkd_capture_fail_with(linkd, EPIPE);
    }
}

/* Returns the channel of a host that takes a capture; -1: none is connected. */
static int host_find(const struct linkd *linkd)
{
    for (int i = 0; i < LINKD_CHANNELS; i++) {
        if (linkd->capture.takes[i]) {
            return i;
        }
    }
    return -1;
}

/* ---- the client -------------------------------------------------------------------- */

/* The host sees its channel close, possibly within a message. */
void linkd_client_gone(struct linkd *linkd, int client)
{
    struct linkd_capture_state *capture = &linkd->capture;
    int channel = capture->channel;

    if (capture->waiting_request != 0 && client == capture->waiting_client) {
        capture->waiting_request = 0;
    }
    if (capture->phase == LINKD_CAPTURE_NONE || client != capture->client) {
        return;
    }
    capture->phase = LINKD_CAPTURE_NONE;
    capture->request = 0;
    capture->channel = -1;
    if (channel >= 0) {
        capture->takes[channel] = false;
        linkd_close(linkd, (unsigned)channel, -ECANCELED);
    }
}

/* The event of a client's end may still be queued behind another client's message. */
static void forget_client_if_gone(struct linkd *linkd)
{
    const struct linkd_capture_state *capture = &linkd->capture;

    if (capture->phase != LINKD_CAPTURE_NONE &&
        !linkd->config.port->client_exists(linkd->config.context, capture->client)) {
        linkd_client_gone(linkd, capture->client);
    }
}

static void linkd_capture_take_request(struct linkd *linkd, int request, int client, bool waits)
{
    const struct linkd_port *port = linkd->config.port;
    void *context = linkd->config.context;
    struct linkd_capture_state *capture = &linkd->capture;

    forget_client_if_gone(linkd);
    bool is_there = host_find(linkd) >= 0;
    if (capture->phase != LINKD_CAPTURE_NONE) {
        port->refuse(context, request, EBUSY);
    } else if (is_there || !waits) {
        port->reply(context, request, is_there);
    } else if (capture->waiting_request != 0 &&
               port->request_waits(context, capture->waiting_request)) {
        port->refuse(context, request, EBUSY);
    } else {
        capture->waiting_client = client;
        capture->waiting_request = request;
    }
}

static void linkd_capture_begin_request(struct linkd *linkd, int request, int client,
                                        const struct linkmsg *msg, size_t total)
{
    const struct linkd_port *port = linkd->config.port;
    void *context = linkd->config.context;
    struct linkd_capture_state *capture = &linkd->capture;

    forget_client_if_gone(linkd);
    if (capture->phase != LINKD_CAPTURE_NONE) {
        port->refuse(context, request, EBUSY);
        return;
    }
    if (msg->bytes == 0 || msg->bytes > LINKMSG_PATH_MOST || total != sizeof(*msg) + msg->bytes) {
        port->refuse(context, request, EINVAL);
        return;
    }
    capture->channel = host_find(linkd);
    if (capture->channel < 0) {
        port->refuse(context, request, EAGAIN);
        return;
    }
    capture->phase = LINKD_CAPTURE_BEGINNING;
    capture->client = client;
    capture->request = request;
    capture->bytes = 0;
    linkd_capture_announce_message(linkd, LINK_CAPTURE_BEGIN, msg->bytes);
}

/* Handles a request of the client that has begun a capture. */
static void write_or_end(struct linkd *linkd, int request, int client, const struct linkmsg *msg,
                         size_t total)
{
    struct linkd_capture_state *capture = &linkd->capture;

    if (capture->client != client || capture->request != 0) {
        linkd->config.port->refuse(linkd->config.context, request, EBUSY);
        return;
    }
    capture->request = request;
    if (capture->phase == LINKD_CAPTURE_FAILED) {
        linkd_capture_fail_with(linkd, capture->error);
    } else if (msg->type == LINKMSG_END) {
        capture->phase = LINKD_CAPTURE_ENDING;
        linkd_capture_announce_message(linkd, LINK_CAPTURE_END, 0);
    } else if (msg->bytes == 0 || msg->bytes > LINKMSG_DATA_MOST ||
               total != sizeof(*msg) + msg->bytes) {
        linkd_capture_reply_client(linkd, EINVAL, 0);
    } else {
        linkd_capture_announce_message(linkd, LINK_CAPTURE_DATA, msg->bytes);
    }
}

void linkd_request(struct linkd *linkd, int request, int client, const void *message, size_t bytes,
                   size_t total)
{
    const struct linkd_port *port = linkd->config.port;
    void *context = linkd->config.context;
    const struct linkmsg *msg = message;

    if (bytes < sizeof(*msg)) {
        port->refuse(context, request, EINVAL);
    } else if (msg->type == LINKMSG_BEGIN) {
        linkd_capture_begin_request(linkd, request, client, msg, total);
    } else if (msg->type == LINKMSG_ASK || msg->type == LINKMSG_WAIT) {
        linkd_capture_take_request(linkd, request, client, msg->type == LINKMSG_WAIT);
    } else if (msg->type != LINKMSG_DATA && msg->type != LINKMSG_END) {
        port->refuse(context, request, ENOSYS);
    } else if (linkd->capture.phase == LINKD_CAPTURE_NONE) {
        port->refuse(context, request, EPIPE);
    } else {
        write_or_end(linkd, request, client, msg, total);
    }
}

/* ---- the host ---------------------------------------------------------------------- */

static long linkd_capture_opened(struct linkd *linkd, unsigned channel)
{
    linkd->capture.takes[channel] = true;
    linkd->config.port->defer(linkd->config.context, LINKD_EVENT_CAPTURE);
    return LINKD_CREDIT;
}

void linkd_capture_event(struct linkd *linkd)
{
    int request = linkd->capture.waiting_request;

    if (request != 0 && host_find(linkd) >= 0) {
        linkd->capture.waiting_request = 0;
        linkd->config.port->reply(linkd->config.context, request, 1);
    }
}

static void capture_closed(struct linkd *linkd, unsigned channel)
{
    linkd->capture.takes[channel] = false;
    if (linkd->capture.channel == (int)channel) {
        linkd_capture_fail_with(linkd, EPIPE);
    }
}

/* The host has stored the capture, or reports that it can't. */
static void host_answered(struct linkd *linkd, unsigned channel)
{
    struct linkd_capture_state *capture = &linkd->capture;
    const struct link_capture *answer = &capture->answer[channel];

    if (answer->kind != LINK_CAPTURE_STORED || capture->channel != (int)channel) {
        return;
    }
    if (answer->result != 0 || capture->phase != LINKD_CAPTURE_ENDING ||
        answer->bytes != capture->bytes) {
        int error = answer->result < 0 ? -answer->result : EIO;

        capture->takes[channel] = false;
        linkd_capture_fail_with(linkd, error);
        linkd_close(linkd, channel, -error);
        return;
    }
    capture->phase = LINKD_CAPTURE_NONE;
    capture->channel = -1;
    linkd_capture_reply_client(linkd, 0, 0);
}

static void capture_data(struct linkd *linkd, unsigned channel, const uint8_t *bytes, size_t count,
                         size_t offset, size_t total)
{
    struct link_capture *answer = &linkd->capture.answer[channel];

    if (total != sizeof(*answer)) {
        capture_closed(linkd, channel);
        linkd_close(linkd, channel, -EMSGSIZE);
        return;
    }
    memcpy((uint8_t *)answer + offset, bytes, count);
    linkd_taken(linkd, channel, count, offset);
    if (offset + count == total) {
        host_answered(linkd, channel);
    }
}

/* The client's memory is read a frame at a time. If that fails the client has gone: the event of
 * its end follows. */
static size_t capture_fetch(struct linkd *linkd, unsigned channel, size_t most,
                            const uint8_t **bytes)
{
    struct linkd_capture_state *capture = &linkd->capture;
    size_t head = sizeof(capture->head), frame = linkd->config.frame_most;

    (void)channel;
    if (capture->at < head) {
        return linkd_fetch_next(&capture->head, head, NULL, 0, &capture->at, most, bytes);
    }
    long got = linkd->config.port->request_read(linkd->config.context, capture->request,
                                                linkd->piece, most < frame ? most : frame,
                                                capture->offset + (capture->at - head));
    if (got <= 0) {
        return 0;
    }
    *bytes = linkd->piece;
    capture->at += (size_t)got;
    return (size_t)got;
}

static void capture_sent(struct linkd *linkd, unsigned channel)
{
    struct linkd_capture_state *capture = &linkd->capture;
    size_t bytes = capture->size - sizeof(capture->head);

    if (capture->channel != (int)channel) {
        return;
    }
    if (capture->head.kind == LINK_CAPTURE_BEGIN) {
        capture->phase = LINKD_CAPTURE_WRITING;
        linkd_capture_reply_client(linkd, 0, 0);
    } else if (capture->head.kind == LINK_CAPTURE_DATA) {
        capture->bytes += bytes;
        linkd_capture_reply_client(linkd, 0, (long)bytes);
    }
}

const struct linkd_service linkd_capture = {
    .name = "capture",
    .open = linkd_capture_opened,
    .data = capture_data,
    .fetch = capture_fetch,
    .sent = capture_sent,
    .closed = capture_closed,
};
