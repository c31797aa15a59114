/* SPDX-License-Identifier: BSD-2-Clause */
/* Who has the kernel's buffers, and whether tracing runs: the kernel's QUERYOWNER. */
#ifndef TRACELOGGER_OWNER_H
#define TRACELOGGER_OWNER_H

#include <stdbool.h>

/* Tracing runs: nobody has said STOP. And whether a D clause has called logstop() since START. */
bool owner_is_recording(bool *triggered);
/* A ring goes on when its logger dies; nobody's it is then, and whoever is able may end it. */
bool owner_is_gone(void);
/* Says who records, after an EEXIST. `remedy`: what to do about it. */
void owner_tell(const char *remedy);

#endif
