/* SPDX-License-Identifier: BSD-2-Clause */
/* The directory, a user's own, with the sockets of the user's brokers: a socket and a lock per
 * target. */
#ifndef HOST_LINK_PLACE_H
#define HOST_LINK_PLACE_H

#include <sys/un.h>

struct place {
    struct sockaddr_un address;
    char lock[sizeof(((struct sockaddr_un *)0)->sun_path) + 8];
};

/* Makes the directory, and checks that nobody else has access. Returns 0, or -1 with `why`. */
int place_find(struct place *place, const char *spec, const char **why);
/* Connects to the target's broker; starts one if there is none. Returns -1 with `why` on
 * failure. */
int place_connect(const struct place *place, const char *spec, const char **why);

#endif
