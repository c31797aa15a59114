/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo view: shared declarations. A snapshot (snapshot.c) is a capture, as far as it was read, as
 * blocks of events in a file and a timeline in files; any window of it becomes blocks of a page.
 * The server (server.c) gives them to the page of `kymo report`, by HTTP, on this machine only. The
 * command (cmd.c, live.c) makes snapshots: one of a file, or newer and newer ones of a recording.
 * Proof: test/host/view/.
 */
#ifndef HOST_VIEW_VIEW_H
#define HOST_VIEW_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "host/report/report.h"

/* Events that a page has at once. A capture with more is shown by levels of detail, and by parts
 * of half as many events. */
#define VIEW_MOST 4000000
#define VIEW_LEAST (4 * REPORT_ROWS)

/* ---- snapshot.c. One thread at a time; the server's lock guards those that are served. ------- */

struct snapshot;

/* Takes over what the caller has set in `report` (host/report/report.h), opens and reads it. NULL
 * after a message, or without one if it grows: nothing can be shown of it yet. */
struct snapshot *snapshot_new(const struct report *report);
void snapshot_free(struct snapshot *snapshot);
/* Appends to `answer` what a page shows first: all of it, or levels of detail. False: no memory, or
 * a file can't be read. */
bool snapshot_whole(struct snapshot *snapshot, uint64_t generation, struct bytes *answer);

enum snapshot_outcome { SNAPSHOT_GIVEN, SNAPSHOT_TOO_MUCH, SNAPSHOT_FAILED };

/* Appends the events of a window (ns, both ends included) and what is drawn of them; from the first
 * to the last event of whole blocks. TOO_MUCH: there are more than a page has. */
enum snapshot_outcome snapshot_part(struct snapshot *snapshot, uint64_t generation, int64_t from,
                                    int64_t to, struct bytes *answer);
uint64_t snapshot_events(const struct snapshot *snapshot);

/* ---- server.c: a thread of its own ----------------------------------------------------------- */

struct server;

/* Serves on 127.0.0.1; port 0: any that is free. first NULL: there is nothing to show yet. NULL
 * after a message. */
struct server *server_new(unsigned port, struct snapshot *first, bool grows);
void server_free(struct server *server);
/* The address of the page; lives as long as the server. */
const char *server_url(const struct server *server);
/* Returns true if a request's header Host, or NULL, names this machine as browsers do. */
bool server_is_named(const char *host, unsigned port);
/* Another snapshot from now on. grows: it is not the last one. */
void server_show(struct server *server, struct snapshot *snapshot, bool grows);
/* There will be no other snapshot. */
void server_show_no_more(struct server *server);
/* The text below the page's title; share: of what is being read, below 0: of nothing. */
void server_say(struct server *server, double share, const char *text);
/* Answers those that wait, so that those that have gone are noticed; every few seconds. */
void server_tick(struct server *server);

/* ---- browse.c -------------------------------------------------------------------------------- */

/* Opens the address in a browser, without showing it to other users. Reports a failure. */
void browse_open(const char *url);

/* ---- live.c ---------------------------------------------------------------------------------- */

/* Records what a target sends, and shows it, until it is interrupted. Returns the exit status. */
int view_live(const struct report *asked, const char *target, const char *output, bool force,
              unsigned port, bool browse);
/* Prints the address, and opens a browser. */
void view_begin(const struct server *server, bool browse);

#endif
