/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The console's input: finished lines (edit.h) are handed to readers in order. Input that nobody
 * reads yet is kept, up to 4 KB; then input_full() says that no more should be taken from the
 * device. One thread. Proved by test/boot/shell.py.
 */
#ifndef APPS_CONSOLE_INPUT_H
#define APPS_CONSOLE_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "apps/console/edit.h"
#include "apps/console/protocol.h"
#include "abi/sys/neutrino.h"

/* A character came; echo is called for what the user is to see. */
void input_char(int c, edit_echo echo);
/* There may be no room for a line more: characters that come nevertheless ring the bell. */
bool input_full(void);
/* A client wants up to `bytes`: answered now or when a line is there. -EAGAIN: too many wait. */
int input_read(int rcvid, int pid, size_t bytes);
/* CONSOLE_INTERRUPTS came: the sender gets the pulses of ^C from now on. 0 or -errno. */
int input_interrupts(const struct console_listen *msg, const struct _msg_info *info);

#endif
