/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sink "link:NAME": the capture goes to linkd, and over the link to a host that runs `kymo
 * capture`. Before it is opened, the sink waits for that host for half a minute; closing waits
 * until the host has confirmed that all is stored.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/dispatch.h>
#include <sys/linkmsg.h>

#include "abi/sys/neutrino.h"
#include "tracelogger/sink.h"

#define WAIT_NS UINT64_C(30000000000)

static int sink_link_coid = -1;

static long sink_link_send_message(uint16_t type, const void *data, size_t bytes)
{
    const struct linkmsg head = {type, 0, (uint32_t)bytes};
    iov_t parts[2];

    SETIOV(&parts[0], &head, sizeof(head));
    SETIOV(&parts[1], data, bytes);
    return MsgSendvs(sink_link_coid, parts, 2, NULL, 0);
}

static int sink_link_print_trouble(void)
{
    int error = errno;

    name_close(sink_link_coid);
    errno = error;
    return -1;
}

/* Sends this message and waits for half a minute. */
static long send_timed(uint16_t type, const void *data, size_t bytes)
{
    uint64_t wait = WAIT_NS;

    TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_SEND | _NTO_TIMEOUT_REPLY, NULL, &wait, NULL);
    return sink_link_send_message(type, data, bytes);
}

static int sink_link_wait(void)
{
    sink_link_coid = name_open(LINKMSG_NAME, 0);
    if (sink_link_coid < 0) {
        printf("tracelogger: linkd is not running: start it first\n");
        errno = 0;
        return -1;
    }
    long is_there = sink_link_send_message(LINKMSG_ASK, NULL, 0);
    if (is_there == 0) {
        printf("tracelogger: waiting for a host: run kymo capture -t TARGET there\n");
        is_there = send_timed(LINKMSG_WAIT, NULL, 0);
    }
    return is_there < 0 ? sink_link_print_trouble() : 0;
}

static int sink_link_open(const char *name)
{
    name = *name ? name : "trace.kev";
    if (strlen(name) > LINKMSG_PATH_MOST) {
        errno = ENAMETOOLONG;
        return sink_link_print_trouble();
    }
    if (send_timed(LINKMSG_BEGIN, name, strlen(name)) == 0) {
        return 0;
    }
    if (errno == EAGAIN) {
        printf("tracelogger: the host that waited for a capture has gone\n");
        errno = 0;
    }
    return sink_link_print_trouble();
}

static long link_write(const void *data, size_t bytes)
{
    return sink_link_send_message(LINKMSG_DATA, data,
                                  bytes < LINKMSG_DATA_MOST ? bytes : LINKMSG_DATA_MOST);
}

static int sink_link_close(void)
{
    int result = sink_link_send_message(LINKMSG_END, NULL, 0) < 0 ? -1 : 0;
    int error = errno;

    name_close(sink_link_coid);
    errno = error;
    return result;
}

/* Without an end the host reports it as incomplete. */
static void link_abandon(bool useless)
{
    (void)useless;
    name_close(sink_link_coid);
}

const struct sink sink_link = {
    .prefix = "link:",
    .wait = sink_link_wait,
    .open = sink_link_open,
    .write = link_write,
    .close = sink_link_close,
    .abandon = link_abandon,
};
