/* SPDX-License-Identifier: BSD-2-Clause */
/* See session.h: opening and closing. session_io.c moves the packets. */
#include "host/link/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/link/reason.h"
#include "host/link/session_io.h"
#include "host/link/spec.h"

#define CREDIT (256 * 1024)
#define TRIES 5 /* a broker may end while one comes */
#define CLOSE_MS 3000

static char link_session_error_text[500];

/* Returns 1 if the target has answered, 0 if the broker ended without a reason, -1 with the reason
 * in `trouble`. */
static int link_session_meet_target(struct session *session)
{
    while (!session->met && !session->gone) {
        if (session_wait(session, -1, POLLIN) < 0) {
            break;
        }
    }
    if (session->met && !session->gone) {
        return 1;
    }
    snprintf(link_session_error_text, sizeof(link_session_error_text), "%s", session->reason);
    return session->told ? -1 : 0;
}

static struct session *link_session_attempt_open(const struct place *place, const char *spec,
                                                 int *result, const char **why)
{
    struct session *session = calloc(1, sizeof(*session));

    *result = -1;
    if (!session) {
        *why = "out of memory";
        return NULL;
    }
    session->fd = place_connect(place, spec, why);
    if (session->fd >= 0) {
        *result = link_session_meet_target(session);
        *why = link_session_error_text;
    }
    if (*result > 0) {
        return session;
    }
    if (session->fd >= 0) {
        close(session->fd);
    }
    free(session);
    return NULL;
}

struct session *session_open(const char *spec, const char **why)
{
    static char full[SPEC_MOST];
    struct session *session = NULL;
    struct place place;
    int result = 0;

    if (!spec_is_good(spec) || spec_absolute(spec, full, sizeof(full)) != 0) {
        snprintf(link_session_error_text, sizeof(link_session_error_text),
                 "%.300s: not a target: unix:PATH, tcp:HOST:PORT or /dev/…[@BAUD]", spec);
        *why = link_session_error_text;
        return NULL;
    }
    if (place_find(&place, full, why) != 0) {
        return NULL;
    }
    for (int i = 0; i < TRIES && result == 0; i++) {
        session = link_session_attempt_open(&place, full, &result, why);
    }
    return session;
}

const struct link_hello *session_hello(const struct session *session)
{
    return &session->hello;
}

int session_descriptor(const struct session *session)
{
    return session->fd;
}

const char *session_reason(const struct session *session)
{
    return session->reason;
}

void session_close(struct session *session)
{
    for (unsigned i = 0; i < LOCAL_CHANNELS; i++) {
        if (session->channel[i]) {
            channel_close(session->channel[i]);
        }
    }
    close(session->fd);
    free(session->out);
    free(session);
}

static struct channel *channel_make(struct session *session, const char **why)
{
    for (unsigned i = 0; i < LOCAL_CHANNELS; i++) {
        if (!session->channel[i]) {
            struct channel *channel = calloc(1, sizeof(*channel));

            *why = "out of memory";
            if (channel) {
                channel->session = session;
                channel->number = i;
                session->channel[i] = channel;
            }
            return channel;
        }
    }
    *why = "too many channels";
    return NULL;
}

static void session_channel_free(struct channel *channel)
{
    channel->session->channel[channel->number] = NULL;
    while (channel->first) {
        struct message *next = channel->first->next;

        free(channel->first);
        channel->first = next;
    }
    free(channel->partial);
    free(channel);
}

static const char *link_session_report_refusal(const struct session *session, const char *service,
                                               int reason)
{
    switch (reason) {
    case -ENOENT:
        snprintf(link_session_error_text, sizeof(link_session_error_text),
                 "the target has no service %s", service);
        break;
    case -EAGAIN:
        snprintf(link_session_error_text, sizeof(link_session_error_text),
                 "too many channels to the target's service %s", service);
        break;
    default:
        snprintf(link_session_error_text, sizeof(link_session_error_text), "%s",
                 session->gone ? session->reason : reason_text(reason));
        break;
    }
    return link_session_error_text;
}

struct channel *channel_open(struct session *session, const char *service, const char **why)
{
    struct channel *channel;

    if (strlen(service) > LINK_SERVICE_MOST) {
        *why = "no such service";
        return NULL;
    }
    channel = channel_make(session, why);
    if (!channel) {
        return NULL;
    }
    session_put(session, LOCAL_OPEN, channel->number, CREDIT, service, strlen(service));
    while (!channel->opened && !channel->closed && !session->gone) {
        session_wait(session, -1, POLLIN);
    }
    if (!channel->opened) {
        *why = link_session_report_refusal(session, service,
                                           channel->closed ? channel->reason : -EPIPE);
        session_channel_free(channel);
        return NULL;
    }
    return channel;
}

/* The number is free again only when the broker has said so. */
void channel_close(struct channel *channel)
{
    struct session *session = channel->session;

    if (!channel->closed && !session->gone) {
        channel->closing = true;
        session_put(session, LOCAL_CLOSE, channel->number, 0, NULL, 0);
        while (!channel->closed && !session->gone && session_wait(session, CLOSE_MS, POLLIN) > 0) {
        }
    }
    session_channel_free(channel);
}
