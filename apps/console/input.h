/* SPDX-License-Identifier: BSD-2-Clause */
/* The console's input: edits a line, hands finished lines to readers in order. One thread. */
#ifndef APPS_CONSOLE_INPUT_H
#define APPS_CONSOLE_INPUT_H

#include <stddef.h>

/* A character came; echo is called for what the user is to see. */
void input_char(int c, void (*echo)(const char *text, size_t bytes));
/* A client wants up to `bytes`: answered now or when a line is there. -EAGAIN: too many wait. */
int input_read(int rcvid, size_t bytes);

#endif
