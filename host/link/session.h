/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The host's end of the link to one target (docs/reference/link.md). A session is a connection to
 * the broker, the background process that has the line and shares it among all `kymo` processes of
 * a user; session_open() starts one where none runs. A channel is one conversation with one service
 * of the target; messages arrive whole, once and in order, or the channel is reported as gone. One
 * thread at a time per session, its channels included. Proved by test/link and test/boot.
 */
#ifndef KYMO_LINK_SESSION_H
#define KYMO_LINK_SESSION_H

#include <stddef.h>

#include "lib/link/hello.h"

struct session;
struct channel;

/*
 * unix:PATH, tcp:HOST:PORT, or a serial line: /dev/tty…[@BAUD] (115200 unless said). Waits up to 10
 * s for the target's hello. NULL: *why says why, in words for a message; it stays valid until the
 * next call.
 */
struct session *session_open(const char *spec, const char **why);

/* Returns the target's hello; valid while the session is open. */
const struct link_hello *session_hello(const struct session *session);

/* Closes its channels too. */
void session_close(struct session *session);

/* The target's services: "dtrace", "console", "capture". NULL: *why says why, as session_open(). */
struct channel *channel_open(struct session *session, const char *service, const char **why);

/* A whole message. 0, -EPIPE: the link or the channel is gone; -EMSGSIZE:
 * above LINK_MESSAGE_MOST. */
int channel_send(struct channel *channel, const void *message, size_t bytes);

/*
 * The bytes of the next whole message, which may be 0. -EAGAIN: none came within timeout_ms (0:
 * don't wait, -1: for ever) or a signal came; -EPIPE: the link or the channel is gone and no
 * message is left; -EMSGSIZE: it is longer than `room` and is still there.
 */
long channel_receive(struct channel *channel, void *message, size_t room, int timeout_ms);

/* Readable when channel_receive() may find something, for poll(); one per session. */
int session_descriptor(const struct session *session);

/* Why the last -EPIPE: "the target went silent", "the target closed the channel", … */
const char *session_reason(const struct session *session);

void channel_close(struct channel *channel);

#endif
