/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the commands that talk to a target. */
#ifndef HOST_LINK_CMD_H
#define HOST_LINK_CMD_H

#include <signal.h>

#include "host/kymo.h"
#include "host/link/session.h"

/* Returns -t's target; without -t (NULL) KYMO_TARGET's; NULL: neither is given. */
const char *cmd_target(const char *given);
/* Opens the session and its channel. Returns NULL after a message if that fails. */
struct channel *cmd_open(const char *spec, const char *service, struct session **session);
/* Reports the reason of an -EPIPE; returns KYMO_FAILURE. */
int cmd_lost(struct session *session, const char *spec);
/* cmd_capture.c. Stores `count` captures of the target's, 0: any number, in the current folder, or
 * as `store` says. Returns the exit status; has said why. */
struct store;
int cmd_capture(const char *target, struct store *store, unsigned long count);
/* Signals that end a command: the flag is set, nothing else happens. */
extern volatile sig_atomic_t cmd_interrupted;
void cmd_catch_signals(void);

#endif
