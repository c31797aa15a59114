/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a user's brokers are met: a directory of the user's own, a socket and a lock per target. */
#ifndef HOST_LINK_PLACE_H
#define HOST_LINK_PLACE_H

#include <sys/un.h>

struct place {
    struct sockaddr_un address;
    char lock[sizeof(((struct sockaddr_un *)0)->sun_path) + 8];
};

/* Makes the directory, and sees that it is ours alone. -1: `why`. */
int place_find(struct place *place, const char *spec, const char **why);
/* Connects to the broker there, starting one if there is none. -1: `why`. */
int place_connect(const struct place *place, const char *spec, const char **why);

#endif
