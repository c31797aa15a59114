/* SPDX-License-Identifier: BSD-2-Clause */
/* See visitors.h. */
#include "host/view/visitors.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>

struct visitor {
    struct visitor *older, *newer;
    int fd;
    bool is_trusted, is_closed;
};

static int visitors_descriptor(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

    return info == NULL ? -1 : info->connect_fd;
}

/* libmicrohttpd reads the end of the stream, and closes the descriptor itself. */
static void visitors_close_oldest_stranger(struct visitors *visitors)
{
    struct visitor *visitor = visitors->oldest;

    while (visitor != NULL && (visitor->is_trusted || visitor->is_closed)) {
        visitor = visitor->newer;
    }
    if (visitor != NULL) {
        visitor->is_closed = true;
        visitors->strange--;
        shutdown(visitor->fd, SHUT_RDWR);
    }
}

static struct visitor *visitors_add(struct visitors *visitors, int fd)
{
    struct visitor *visitor = calloc(1, sizeof(*visitor));

    if (visitor == NULL) { /* one that nobody counts would be one too many */
        shutdown(fd, SHUT_RDWR);
        return NULL;
    }
    visitor->fd = fd;
    visitor->older = visitors->newest;
    *(visitors->newest == NULL ? &visitors->oldest : &visitors->newest->newer) = visitor;
    visitors->newest = visitor;
    if (++visitors->strange > VISITORS_STRANGE) {
        visitors_close_oldest_stranger(visitors);
    }
    return visitor;
}

static void visitors_remove(struct visitors *visitors, struct visitor *visitor)
{
    *(visitor->older == NULL ? &visitors->oldest : &visitor->older->newer) = visitor->newer;
    *(visitor->newer == NULL ? &visitors->newest : &visitor->newer->older) = visitor->older;
    visitors->trusted -= visitor->is_trusted;
    visitors->strange -= !visitor->is_trusted && !visitor->is_closed;
    free(visitor);
}

void visitors_notify(void *arg, struct MHD_Connection *connection, void **context,
                     enum MHD_ConnectionNotificationCode code)
{
    struct visitors *visitors = arg;

    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        *context = visitors_add(visitors, visitors_descriptor(connection));
    } else if (*context != NULL) {
        visitors_remove(visitors, *context);
        *context = NULL;
    }
}

void visitors_trust(struct visitors *visitors, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct visitor *visitor = info == NULL ? NULL : info->socket_context;

    /* With more connections than are kept for the owner, the others are as good as strangers'. */
    if (visitor != NULL && !visitor->is_trusted && !visitor->is_closed &&
        visitors->trusted < VISITORS_TRUSTED) {
        visitor->is_trusted = true;
        visitors->strange--;
        visitors->trusted++;
        MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT,
                                  (unsigned)VISITORS_TRUSTED_SECONDS);
    }
}
