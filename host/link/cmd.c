/* SPDX-License-Identifier: BSD-2-Clause */
/* See cmd.h. */
#include "host/link/cmd.h"

#include <stdlib.h>
#include <string.h>

const char *cmd_target(const char *given)
{
    const char *target = given ? given : getenv("KYMO_TARGET");

    return target && *target ? target : NULL;
}

volatile sig_atomic_t cmd_interrupted;

/* The link's own reasons begin with the target. */
static void link_cmd_print_reason(const char *spec, const char *why)
{
    if (strncmp(why, spec, strlen(spec)) == 0) {
        kymo_error("%s", why);
    } else {
        kymo_error("%s: %s", spec, why);
    }
}

struct channel *cmd_open(const char *spec, const char *service, struct session **session)
{
    const char *why = "";
    struct channel *channel;

    *session = session_open(spec, &why);
    if (*session == NULL) {
        kymo_error("%s", why);
        return NULL;
    }
    channel = channel_open(*session, service, &why);
    if (channel == NULL) {
        link_cmd_print_reason(spec, why);
        session_close(*session);
        *session = NULL;
    }
    return channel;
}

int cmd_lost(struct session *session, const char *spec)
{
    link_cmd_print_reason(spec, session_reason(session));
    return KYMO_FAILURE;
}

static void link_cmd_on_interrupt(int signo)
{
    cmd_interrupted = signo;
}

void cmd_catch_signals(void)
{
    const struct sigaction action = {.sa_handler =
                                         link_cmd_on_interrupt}; /* no SA_RESTART: poll() ends */

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}
