/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * init's children: the programs that lines of the start script have started, by name. A child fails
 * if it exits with a status other than 0 or is ended by a signal, unless its line has status=any.
 * One thread. Tested by test/apps/init/children_test.c and the boot suites failed and may-fail.
 */
#ifndef APPS_INIT_CHILDREN_H
#define APPS_INIT_CHILDREN_H

#include <stdbool.h>

#include "apps/init/script.h"

#define CHILDREN_MOST 64

/* Adds a child that a line has started. The line's words must stay valid. -1: CHILDREN_MOST run. */
int children_add(int pid, const struct line *line);
/* Blocks until that child has ended. -1 and errno: there is no such child. */
int children_wait(int pid);
/* Called when the script has found a name of this process: if it is a child whose line has no
 * `server` option, it counts as a server. */
void children_named(int pid);
/* Blocks until every child started with & that isn't a server has ended. */
int children_wait_background(void);
/* Blocks until any child has ended. -1 and errno (ECHILD): none runs. */
int children_wait_any(void);
/* Reports children that have ended since the previous call, without waiting. */
void children_reap(void);
/* Returns the name of the first child that has failed, or NULL. */
const char *children_failed(void);

#endif
