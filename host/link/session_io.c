/* SPDX-License-Identifier: BSD-2-Clause */
/* The packets of a session: see session_io.h. Messages are put together here. */
#include "host/link/session_io.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "host/link/reason.h"

#define QUEUED_MOST (1024 * 1024) /* bytes of whole messages before credit is withheld */
#define CREDIT_STEP (32 * 1024)

static void link_session_lose(struct session *session, const char *why)
{
    if (!session->gone) {
        session->gone = true;
        snprintf(session->reason, sizeof(session->reason), "%s", why);
    }
}

static void link_session_flush_output(struct session *session)
{
    while (session->out_at < session->out_end && !session->gone) {
        ssize_t done = send(session->fd, session->out + session->out_at,
                            session->out_end - session->out_at, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (done < 0 && (errno == EAGAIN || errno == EINTR)) {
            return;
        }
        if (done < 0) {
            return; /* why is still to be read */
        }
        session->out_at += (size_t)done;
    }
    session->out_at = session->out_end = 0;
}

static bool link_session_make_room(struct session *session, size_t bytes)
{
    if (session->out_end + bytes > session->out_room) {
        size_t room = 2 * (session->out_end + bytes);
        uint8_t *more = realloc(session->out, room);

        if (!more) {
            link_session_lose(session, "out of memory");
            return false;
        }
        session->out = more;
        session->out_room = room;
    }
    return true;
}

void session_put(struct session *session, uint8_t type, unsigned channel, uint32_t value,
                 const void *bytes, size_t count)
{
    const struct local_head head = {type, (uint8_t)channel, (uint16_t)count, value};

    if (session->gone || !link_session_make_room(session, sizeof(head) + count)) {
        return;
    }
    memcpy(session->out + session->out_end, &head, sizeof(head));
    if (count > 0) {
        memcpy(session->out + session->out_end + sizeof(head), bytes, count);
    }
    session->out_end += sizeof(head) + count;
    link_session_flush_output(session);
}

/* Withheld while the owner lets messages lie; not amid one, which could not end then. */
void session_credit(struct channel *channel)
{
    if (channel->owed > 0 && !channel->closed &&
        (channel->queued < QUEUED_MOST || channel->partial) &&
        (channel->owed >= CREDIT_STEP || !channel->partial)) {
        session_put(channel->session, LOCAL_CREDIT, channel->number, channel->owed, NULL, 0);
        channel->owed = 0;
    }
}

static void link_session_message_end(struct channel *channel)
{
    struct message *message = channel->partial;

    channel->partial = NULL;
    message->next = NULL;
    if (channel->last) {
        channel->last->next = message;
    } else {
        channel->first = message;
    }
    channel->last = message;
    channel->queued += message->bytes;
}

static void part_came(struct channel *channel, const struct local_head *head, const uint8_t *bytes)
{
    struct message *message = channel->partial;

    if (head->type == LOCAL_FIRST) {
        message = malloc(sizeof(*message) + head->value);
        if (!message) {
            link_session_lose(channel->session, "out of memory");
            return;
        }
        message->bytes = head->value;
        message->got = 0;
        channel->partial = message;
    }
    memcpy(message->data + message->got, bytes, head->bytes);
    message->got += head->bytes;
    channel->owed += link_cost(head->bytes, head->type == LOCAL_FIRST ? 0 : 1);
    if (message->got == message->bytes) {
        link_session_message_end(channel);
    }
    session_credit(channel);
}

static void channel_packet(struct channel *channel, const struct local_head *head,
                           const uint8_t *bytes)
{
    switch (head->type) {
    case LOCAL_OPENED:
        channel->opened = true;
        break;
    case LOCAL_CLOSED:
        channel->closed = true;
        channel->reason = (int)head->value;
        if (!channel->closing) {
            snprintf(channel->session->reason, sizeof(channel->session->reason),
                     "the target closed the channel%s%s", channel->reason ? ": " : "",
                     channel->reason ? reason_text(channel->reason) : "");
        }
        break;
    default:
        part_came(channel, head, bytes);
        break;
    }
}

static void link_session_take_packet(struct session *session, const struct local_head *head,
                                     const uint8_t *bytes)
{
    if (head->type == LOCAL_HELLO && head->bytes == sizeof(session->hello)) {
        memcpy(&session->hello, bytes, sizeof(session->hello));
        session->met = true;
    } else if (head->type == LOCAL_DOWN) {
        char why[400];

        snprintf(why, sizeof(why), "%.*s", head->bytes, (const char *)bytes);
        session->told = true;
        link_session_lose(session, why);
    } else if (head->channel < LOCAL_CHANNELS && session->channel[head->channel]) {
        channel_packet(session->channel[head->channel], head, bytes);
    }
}

static void link_session_take_packets(struct session *session)
{
    struct local_head head;
    size_t at = 0;

    while (session->in_bytes - at >= sizeof(head)) {
        memcpy(&head, session->in + at, sizeof(head));
        if (head.bytes > LOCAL_MOST) {
            link_session_lose(session, "malformed data from the broker");
            return;
        }
        if (session->in_bytes - at < sizeof(head) + head.bytes) {
            break;
        }
        link_session_take_packet(session, &head, session->in + at + sizeof(head));
        at += sizeof(head) + head.bytes;
    }
    session->in_bytes -= at;
    memmove(session->in, session->in + at, session->in_bytes);
}

static void link_session_receive_bytes(struct session *session)
{
    ssize_t got = recv(session->fd, session->in + session->in_bytes,
                       sizeof(session->in) - session->in_bytes, MSG_DONTWAIT);

    if (got > 0) {
        session->in_bytes += (size_t)got;
        link_session_take_packets(session);
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        link_session_lose(session, "the link's broker has ended");
    }
}

int session_wait(struct session *session, int timeout_ms, short events)
{
    struct pollfd fd = {.fd = session->fd, .events = events};

    if (session->gone) {
        return -1;
    }
    if (session->out_end > session->out_at) {
        fd.events |= POLLOUT;
    }
    if (poll(&fd, 1, timeout_ms) <= 0) {
        return 0;
    }
    if (fd.revents & POLLOUT) {
        link_session_flush_output(session);
    }
    if (fd.revents & (POLLIN | POLLHUP | POLLERR)) {
        link_session_receive_bytes(session);
    }
    return session->gone ? -1 : 1;
}

int channel_send(struct channel *channel, const void *message, size_t bytes)
{
    struct session *session = channel->session;
    const uint8_t *at = message;
    size_t left = bytes;

    if (bytes > LINK_MESSAGE_MOST) {
        return -EMSGSIZE;
    }
    do {
        size_t part = left < LOCAL_MOST ? left : LOCAL_MOST;

        if (session->gone || channel->closed) {
            return -EPIPE;
        }
        session_put(session, left == bytes ? LOCAL_FIRST : LOCAL_MORE, channel->number,
                    (uint32_t)bytes, at, part);
        at += part;
        left -= part;
        while (session->out_end > session->out_at && !session->gone) {
            session_wait(session, -1, POLLIN);
        }
    } while (left > 0);
    return session->gone || channel->closed ? -EPIPE : 0;
}

static int64_t link_session_now_ms(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* Waits until a whole message has arrived. Returns 0, else the reason. */
static int link_session_await_message(struct channel *channel, int timeout_ms)
{
    struct session *session = channel->session;
    int64_t until = link_session_now_ms() + timeout_ms;

    while (!channel->first) {
        int64_t left = timeout_ms < 0 ? -1 : until - link_session_now_ms();

        if (session->gone || channel->closed) {
            return -EPIPE;
        }
        left = timeout_ms >= 0 && left < 0 ? 0 : left;
        int result = session_wait(session, (int)left, POLLIN);
        if (result == 0 && !channel->first) {
            return -EAGAIN;
        }
    }
    return 0;
}

long channel_receive(struct channel *channel, void *message, size_t room, int timeout_ms)
{
    int error = link_session_await_message(channel, timeout_ms);
    struct message *first = channel->first;

    if (error) {
        return error;
    }
    if (first->bytes > room) {
        return -EMSGSIZE;
    }
    long bytes = (long)first->bytes;
    memcpy(message, first->data, first->bytes);
    channel->first = first->next;
    channel->last = channel->first ? channel->last : NULL;
    channel->queued -= first->bytes;
    free(first);
    session_credit(channel);
    return bytes;
}
