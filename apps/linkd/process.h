/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * linkd, the process that runs lib/linkd/: main.c has the line and the loop, port.c the functions
 * that the library needs from Kymo. One thread.
 */
#ifndef APPS_LINKD_PROCESS_H
#define APPS_LINKD_PROCESS_H

#include "apps/linkd/line.h"
#include "lib/linkd/linkd.h"

/* Pulses on linkd's channel; the value of LINE is the driver's. CONSOLE and CAPTURE are deferred
 * events of the library. */
enum { PULSE_LINE = 1, PULSE_TIME = 2, PULSE_CONSOLE = 3, PULSE_CAPTURE = 4 };

extern int linkd_chid, linkd_coid; /* linkd's channel, and a connection to it for pulses */
extern const struct line_driver *linkd_line; /* the present line */
extern const struct linkd_port linkd_port;

#endif
