/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The host's side of the service "capture": a capture that comes over the link becomes a file. It
 * is complete when the target has said how long it is and that is how long it is. The target is
 * told that it is safe only when the file is on the medium under its name. A name that the target
 * has chosen is one in the current folder that nothing has yet. Proved by
 * test/host/link/store_test.c.
 */
#ifndef HOST_LINK_STORE_H
#define HOST_LINK_STORE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/link/session.h"
#include "host/name.h"
#include "host/output.h"

struct store {
    const char *output; /* the user's file; NULL: as the target says */
    bool force;         /* which may be replaced */
    bool is_passing;    /* it will not be kept: no message about it */
    struct channel *channel;
    unsigned long stored; /* captures */
    bool begun;           /* one is coming */
    uint64_t bytes;       /* of it */
    struct output file;
    char plain[KYMO_NAME_MOST]; /* the target's name for it */
    char name[KYMO_NAME_MOST];  /* the file's, in its folder */
    char path[PATH_MAX];        /* the same with the folder, for messages */
    unsigned tried;             /* names */
    /* Called when one begins to come: file.fd can be read. NULL: nobody asks. */
    void (*opened)(const struct store *store);
    /* Called when a capture has its name; not whole: it has no end. NULL: nobody asks. */
    void (*placed)(const struct store *store, bool is_whole);
};

/* 0, or -1: the user's file can't be written to, which it says. Before the target is asked. */
int store_check(struct store *store);
/* A message of the target's. 0, or a negative errno: the message is malformed; if it is the
 * host's fault, it was reported here and to the target. */
int store_message(struct store *store, const uint8_t *bytes, size_t count);
/* There will be no more. True if a capture has no end, which it says: what there is of it is kept
 * under a name that nothing has. */
bool store_incomplete(struct store *store);

#endif
