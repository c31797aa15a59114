/* SPDX-License-Identifier: BSD-2-Clause */
/* The newest text on the console, for one listener (protocol.h). One thread. */
#ifndef APPS_CONSOLE_LISTEN_H
#define APPS_CONSOLE_LISTEN_H

#include <stddef.h>

#include "apps/console/protocol.h"
#include "abi/sys/neutrino.h"

/* Called when text was written to the console. */
void listen_notify(void);
/* Handles CONSOLE_LISTEN and replies to it. */
void listen_message(int rcvid, const struct console_listen *msg, const struct _msg_info *info);

#endif
