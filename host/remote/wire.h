/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Transport of the messages of a target's service, first of all D's control call: a channel of the
 * link (link.c), or a call within this process (loop.c), for the tests. One request at a time.
 */
#ifndef HOST_REMOTE_WIRE_H
#define HOST_REMOTE_WIRE_H

#include <stddef.h>

struct wire;

struct wire_ops {
    /* A whole message. 0, -EPIPE: the target is gone; -EMSGSIZE. */
    int (*send)(struct wire *, const void *message, size_t bytes);
    /* The bytes of the next message; -EAGAIN: none came in time, or a signal came; -EPIPE,
     * -EMSGSIZE. */
    long (*receive)(struct wire *, void *message, size_t room, int timeout_ms);
    /* Why the last -EPIPE. */
    const char *(*reason)(struct wire *);
    void (*close)(struct wire *);
    /* Another service of the same target, to be closed before this one. NULL: *why says why. NULL
     * itself: there is only D. */
    struct wire *(*beside)(struct wire *, const char *service, const char **why);
};

struct wire {
    const struct wire_ops *ops;
};

/* NULL: *why says why. */
struct wire *wire_link(const char *spec, const char **why);
struct wire *wire_loop(const char **why);
/* To a board that is booted for it. text: BOARD[,icount][,image=IMAGE]; NULL: virt-a64. IMAGE is
 * the rest of the text: the name or the path of an image that has the link. */
struct wire *wire_boot(const char *text, const char **why);

#endif
