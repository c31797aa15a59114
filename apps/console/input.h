/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The console's input: finished lines (edit.h) are handed to readers in order. Input that no
 * process reads yet is kept, up to 4 KB; then input_full() says that no more should be taken from
 * the device. One thread. Tested by test/board/shell.py.
 */
#ifndef APPS_CONSOLE_INPUT_H
#define APPS_CONSOLE_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "apps/console/edit.h"
#include "apps/console/protocol.h"
#include "abi/sys/neutrino.h"

/* Handles a received character; echo gets the output for the user. */
void input_char(int c, edit_echo echo);
/* Returns true if there may be no room for another line: further characters ring the bell. */
bool input_full(void);
/* A client requests up to `bytes`: replied now or when a line is complete. -EAGAIN: too many
 * wait. */
int input_read(int rcvid, int pid, size_t bytes);
/* Handles CONSOLE_INTERRUPTS: the sender gets the pulses of ^C from now on. Returns 0 or -errno. */
int input_interrupts(const struct console_listen *msg, const struct _msg_info *info);

#endif
