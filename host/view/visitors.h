/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo view: who is connected to the server. Any user of the machine can connect, and nothing tells
 * the owner's connection from a stranger's until a request shows the secret. So half of the
 * connections are kept for those that have shown it, and for each connection beyond the other half
 * the oldest stranger's is closed: the owner needs a place only until the first request is read,
 * and strangers can't refuse it. All functions are called on the server's thread.
 * Proof: test/host/view/strangers.py.
 */
#ifndef HOST_VIEW_VISITORS_H
#define HOST_VIEW_VISITORS_H

#include <microhttpd.h>

#define VISITORS_TRUSTED 32
#define VISITORS_STRANGE 32
/* More than both: a closed connection counts for libmicrohttpd until it has noticed. */
#define VISITORS_MOST (VISITORS_TRUSTED + VISITORS_STRANGE + 32)
#define VISITORS_TRUSTED_SECONDS 5 /* without a word from it */
#define VISITORS_STRANGE_SECONDS 2

struct visitor;
struct visitors {
    struct visitor *oldest, *newest;
    unsigned trusted, strange;
};

/* For MHD_OPTION_NOTIFY_CONNECTION; arg: struct visitors. */
void visitors_notify(void *arg, struct MHD_Connection *connection, void **context,
                     enum MHD_ConnectionNotificationCode code);
/* A request of this connection has shown the secret. */
void visitors_trust(struct visitors *visitors, struct MHD_Connection *connection);

#endif
