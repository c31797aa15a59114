/* SPDX-License-Identifier: BSD-2-Clause */
/* The owner of the kernel's buffers, and whether tracing runs: the kernel's QUERYOWNER. */
#ifndef TRACELOGGER_OWNER_H
#define TRACELOGGER_OWNER_H

#include <stdbool.h>

/* Returns whether tracing runs, that is, before STOP; and whether a D clause has called logstop()
 * since START. */
bool owner_is_recording(bool *triggered);
/* Returns whether the owner is gone: a ring keeps running when its logger dies, and then any
 * process with the ability may end it. */
bool owner_is_gone(void);
/* Reports the owner, after an EEXIST. `remedy`: what the user can do about it. */
void owner_tell(const char *remedy);

#endif
