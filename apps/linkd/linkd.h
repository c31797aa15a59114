/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * linkd's parts: the loop (main.c), the services, and what they ask of each other. One thread. A
 * service has a file and a row in serve.c; docs/link.md says what each does.
 */
#ifndef APPS_LINKD_LINKD_H
#define APPS_LINKD_LINKD_H

#include "abi/sys/neutrino.h"
#include "lib/link/link.h"

#define LINKD_CHANNELS 16
#define LINKD_CREDIT 16384 /* first credit of a service that takes what comes at once */

/* Pulses on linkd's channel; the value of LINE is the driver's. */
enum { PULSE_LINE = 1, PULSE_TIME = 2, PULSE_CONSOLE = 3, PULSE_CAPTURE = 4 };

extern struct link linkd_link;
extern int linkd_chid, linkd_coid; /* linkd's channel, and a connection to it for pulses */

struct service {
    const char *name;
    long (*open)(unsigned channel); /* first credit, or a negative errno */
    /* As struct link_user's. */
    void (*data)(unsigned channel, const uint8_t *bytes, size_t count, size_t offset, size_t total);
    size_t (*fetch)(unsigned channel, size_t most, const uint8_t **bytes);
    void (*sent)(unsigned channel);
    void (*closed)(unsigned channel); /* by the host or with the link; frees all of the channel's */
};

extern const struct service service_dtrace, service_console, service_capture, service_source,
    service_program;

/* serve.c: the calls of the protocol, given to the channel's service. */
extern const struct link_user serve_user;
/* The service ends it: closed() is not called. */
void serve_close(unsigned channel, int reason);

/* console.c: the console has more to show. */
void console_pulse(void);
/* Asks from time to time; in how many ms the next time is, never if nobody hears. */
uint64_t console_tick(uint64_t now);
/* capture.c: a host is there for captures; a program's message to the name "link"; and its end. */
void capture_pulse(void);
void capture_message(int rcvid, const struct _msg_info *info, const void *message, size_t bytes);
void capture_disconnect(int scoid);

#endif
